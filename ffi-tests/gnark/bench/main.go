// Times whole proofs, gnark's solver included, by this library and by gnark's own prover, on the same threads.
//
// Rounds are interleaved, with the first of each left out, and medians compared. Two circuits of the same size:
//
//	products  every wire is of full size and has points in A and B
//	bits      three wires in four are 0 or 1, as in hashes and range checks
//
// The library's proofs are verified before they are given out, gnark's are not. Each line is one claim: RATIO name
// value, where value is gnark's time over the library's.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math/big"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/consensys/gnark-crypto/ecc"
	gnark "github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/logger"
	"github.com/rs/zerolog"

	lib "github.com/libgroth16/libgroth16/go-bindings"
	groth16 "github.com/libgroth16/libgroth16/go-bindings/gnark"
)

type products struct {
	X           frontend.Variable
	Y           frontend.Variable `gnark:",public"`
	constraints int
}

func (c *products) Define(api frontend.API) error {
	product := c.X
	for i := range c.constraints {
		product = api.Mul(product, api.Add(product, c.Y, i))
	}
	return nil
}

// Bits come in rows of 255, each with the number that they make, and that many products.
type bits struct {
	X           frontend.Variable
	Y           frontend.Variable `gnark:",public"`
	Bits        []frontend.Variable
	constraints int
}

func (c *bits) Define(api frontend.API) error {
	product, left := c.X, c.constraints
	for row := range slices.Chunk(c.Bits, 255) {
		for _, bit := range row {
			api.AssertIsBoolean(bit)
			left--
		}
		number := frontend.Variable(0)
		power := big.NewInt(1)
		for _, bit := range row {
			number = api.Add(number, api.Mul(bit, power))
			power = new(big.Int).Lsh(power, 1)
		}
		product = api.Mul(number, product)
		left--
	}
	for ; left > 0; left-- {
		product = api.Mul(product, api.Add(product, c.Y, left))
	}
	return nil
}

// A statement is what both prove.
type statement struct {
	name    string // as in the claims
	circuit constraint.ConstraintSystem
	pk      groth16.ProvingKey
	vk      groth16.VerifyingKey
	full    witness.Witness
	public  witness.Witness
}

func newStatement(kind string, exponent int) *statement {
	n := 1 << exponent
	s := &statement{name: fmt.Sprintf("2^%d", exponent)}
	x := new(big.Int).Exp(big.NewInt(7), big.NewInt(91), ecc.BLS12_381.ScalarField())
	var definition, assignment frontend.Circuit
	switch kind {
	case "products":
		definition, assignment = &products{constraints: n}, &products{X: x, Y: 3}
	case "bits":
		numBits := n / 4 * 3
		values := make([]frontend.Variable, numBits)
		for i := range values {
			values[i] = x.Bit(i*i%255) & 1
		}
		definition = &bits{Bits: make([]frontend.Variable, numBits), constraints: n}
		assignment = &bits{X: x, Y: 3, Bits: values}
		s.name += "_bits"
	default:
		fail(fmt.Errorf("no such circuit: %q", kind))
	}
	field := ecc.BLS12_381.ScalarField()
	var err error
	s.circuit, err = frontend.Compile(field, r1cs.NewBuilder, definition)
	fail(err)
	if got := s.circuit.GetNbConstraints(); got != n {
		fail(fmt.Errorf("%s: %d constraints, wanted %d", s.name, got, n))
	}
	s.pk, s.vk, err = groth16.Setup(s.circuit)
	fail(err)
	s.full, err = frontend.NewWitness(assignment, field)
	fail(err)
	s.public, err = s.full.Public()
	fail(err)
	return s
}

// Seconds of one round.
type round struct{ solve, ours, gnarks float64 }

func (s *statement) round(key *groth16.Key) round {
	var r round
	r.solve = timed(func() {
		_, err := s.circuit.Solve(s.full)
		fail(err)
	})
	var proof groth16.Proof
	var err error
	r.ours = timed(func() { proof, err = key.Prove(context.Background(), s.circuit, s.full) })
	fail(err)
	fail(gnark.Verify(proof, s.vk, s.public))
	r.gnarks = timed(func() { proof, err = gnark.Prove(s.circuit, s.pk, s.full) })
	fail(err)
	fail(key.Verify(proof, s.public))
	return r
}

// timed starts from a clean heap: neither pays for the other's garbage.
func timed(f func()) float64 {
	runtime.GC()
	begin := time.Now()
	f()
	return time.Since(begin).Seconds()
}

func median(rounds []round, value func(round) float64) float64 {
	values := make([]float64, len(rounds))
	for i, r := range rounds {
		values[i] = value(r)
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

func (s *statement) measure(prover *groth16.Prover, rounds, threads int) {
	begin := time.Now()
	key, err := prover.LoadKey(context.Background(), s.pk, s.vk)
	fail(err)
	defer key.Close()
	loaded := time.Since(begin).Seconds()
	s.round(key)
	var all []round
	for range rounds {
		all = append(all, s.round(key))
	}
	solve := median(all, func(r round) float64 { return r.solve })
	ours := median(all, func(r round) float64 { return r.ours })
	gnarks := median(all, func(r round) float64 { return r.gnarks })
	fmt.Printf("%s: solve %.3f s, libgroth16 %.3f s, gnark %.3f s, medians of %d; key loaded in %.2f s\n",
		s.name, solve, ours, gnarks, rounds, loaded)
	fmt.Printf("RATIO gnark_prove_%s_T%d_vs_gnark %.2f\n", s.name, threads, gnarks/ours)
	without := func(prove func(round) float64) float64 {
		return median(all, func(r round) float64 { return prove(r) - r.solve })
	}
	fmt.Printf("RATIO gnark_prove_%s_T%d_without_solve_vs_gnark %.2f\n", s.name, threads,
		without(func(r round) float64 { return r.gnarks })/without(func(r round) float64 { return r.ours }))
}

func main() {
	logs := flag.String("logs", "12,14,16", "base-2 logarithms of the numbers of constraints")
	kinds := flag.String("circuits", "products,bits", "which circuits")
	rounds := flag.Int("rounds", 7, "rounds to take the median of")
	threads := flag.Int("threads", 2, "threads for each")
	flag.Parse()
	logger.Set(zerolog.Nop())
	if n := runtime.NumCPU(); n > *threads {
		fail(fmt.Errorf("the process may run on %d cores: gnark starts as many tasks, bind it to %d (taskset)", n, *threads))
	}
	runtime.GOMAXPROCS(*threads)
	prover, err := groth16.NewProver(groth16.ProverOptions{
		EngineOptions: lib.EngineOptions{Backend: lib.BackendCPU, CPUThreads: *threads},
	})
	fail(err)
	defer prover.Close()
	for _, kind := range strings.Split(*kinds, ",") {
		for _, text := range strings.Split(*logs, ",") {
			exponent, err := strconv.Atoi(text)
			fail(err)
			if exponent < 10 || exponent > 26 {
				fail(fmt.Errorf("2^%d constraints, wanted 2^10 to 2^26", exponent))
			}
			newStatement(kind, exponent).measure(prover, *rounds, *threads)
		}
	}
}

func fail(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
