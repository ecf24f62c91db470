// Times of gnark-crypto's multi-scalar multiplications and transforms over BLS12-381, for comparison with this library's: see
// ../src/cpu.rs, which starts this program and asks for one run at a time, in turns with the other contenders.
//
// Reads lines `THREADS NAME`, such as `1 g1_2^14_uniform` or `2 ntt_2^18`, runs that once and answers with its milliseconds.
// What a run needs is prepared, untimed, when its name first comes up.
package main

import (
	"bufio"
	"fmt"
	"math/big"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/consensys/gnark-crypto/ecc"
	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr/fft"
)

// splitMix64 is small and repeatable.
type splitMix64 uint64

func (s *splitMix64) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

func (s *splitMix64) element() (e fr.Element) {
	var bytes [32]byte
	for i := 0; i < 32; i += 8 {
		word := s.next()
		for j := range 8 {
			bytes[i+j] = byte(word >> (8 * j))
		}
	}
	e.SetBytes(bytes[:])
	return e
}

func scalars(count int, kind string) []fr.Element {
	random := splitMix64(1)
	out := make([]fr.Element, count)
	for i := range out {
		if kind == "uniform" {
			out[i] = random.element()
			continue
		}
		// Like real witnesses: 45 % zero, 45 % one, 5 % below 2^32, 5 % of full size.
		switch share := random.next() % 100; {
		case share < 45:
		case share < 90:
			out[i].SetOne()
		case share < 95:
			out[i].SetUint64(random.next() >> 32)
		default:
			out[i] = random.element()
		}
	}
	return out
}

func main() {
	var name string
	var run func(threads int)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		count, wanted, _ := strings.Cut(lines.Text(), " ")
		threads := number(count)
		runtime.GOMAXPROCS(threads)
		if wanted != name {
			name, run = wanted, prepare(wanted)
			runtime.GC()
		}
		start := time.Now()
		run(threads)
		fmt.Printf("%.3f\n", time.Since(start).Seconds()*1e3)
	}
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return value
}

func prepare(name string) func(threads int) {
	parts := strings.Split(name, "_")
	count := 1 << number(strings.TrimPrefix(parts[1], "2^"))
	_, _, g1, g2 := bls12381.Generators()
	first := new(big.Int).SetUint64(12345)
	switch parts[0] {
	case "g1":
		points := make([]bls12381.G1Jac, count)
		var step bls12381.G1Affine
		step.ScalarMultiplication(&g1, first)
		points[0].FromAffine(&step)
		for i := 1; i < count; i++ {
			points[i].Set(&points[i-1]).AddMixed(&step)
		}
		affine, values := bls12381.BatchJacobianToAffineG1(points), scalars(count, parts[2])
		return func(threads int) {
			check(new(bls12381.G1Affine).MultiExp(affine, values, ecc.MultiExpConfig{NbTasks: threads}))
		}
	case "g2":
		points, affine, values := make([]bls12381.G2Jac, count), make([]bls12381.G2Affine, count), scalars(count, parts[2])
		var step bls12381.G2Affine
		step.ScalarMultiplication(&g2, first)
		points[0].FromAffine(&step)
		for i := 1; i < count; i++ {
			points[i].Set(&points[i-1]).AddMixed(&step)
		}
		for i := range points {
			affine[i].FromJacobian(&points[i])
		}
		return func(threads int) {
			check(new(bls12381.G2Affine).MultiExp(affine, values, ecc.MultiExpConfig{NbTasks: threads}))
		}
	}
	domain, values := fft.NewDomain(uint64(count)), scalars(count, "uniform")
	return func(threads int) { domain.FFT(values, fft.DIF, fft.WithNbTasks(threads)) }
}

func check[T any](_ T, err error) {
	if err != nil {
		panic(err)
	}
}
