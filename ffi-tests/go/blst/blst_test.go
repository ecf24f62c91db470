// Package blst shows that this library, which carries a blst of its own, and blst's Go binding live in one process:
// what one proves the other verifies.
package blst

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"testing"

	groth16 "github.com/libgroth16/libgroth16/go-bindings"
	blst "github.com/supranational/blst/bindings/go"
)

const testdata = "../../../go-bindings/testdata/"

// A verifyingKey is parsed from bellman's encoding.
type verifyingKey struct {
	alpha              *blst.P1Affine
	beta, gamma, delta *blst.P2Affine
	ic                 []*blst.P1Affine
}

func parseKey(data []byte) (*verifyingKey, error) {
	const g1, g2 = 96, 192
	head := 3*g1 + 3*g2 + 4
	if len(data) < head {
		return nil, errors.New("cut off")
	}
	wrong := false
	p1 := func(at int) *blst.P1Affine {
		p := new(blst.P1Affine).Deserialize(data[at : at+g1])
		wrong = wrong || p == nil
		return p
	}
	p2 := func(at int) *blst.P2Affine {
		p := new(blst.P2Affine).Deserialize(data[at : at+g2])
		wrong = wrong || p == nil
		return p
	}
	// alpha in G1, beta in G1 and G2, gamma in G2, delta in G1 and G2, the number of points of IC and those
	vk := &verifyingKey{alpha: p1(0), beta: p2(2 * g1), gamma: p2(2*g1 + g2), delta: p2(3*g1 + 2*g2)}
	n := int(binary.BigEndian.Uint32(data[head-4:]))
	if len(data) != head+n*g1 {
		return nil, fmt.Errorf("%d bytes for %d points", len(data), n)
	}
	for i := range n {
		vk.ic = append(vk.ic, p1(head+i*g1))
	}
	if wrong {
		return nil, errors.New("a point is not on its curve")
	}
	return vk, nil
}

// verify checks e(A, B) = e(alpha, beta) e(sum of inputs, gamma) e(C, delta).
func (vk *verifyingKey) verify(inputs, proof []byte) bool {
	a := new(blst.P1Affine).Uncompress(proof[:48])
	b := new(blst.P2Affine).Uncompress(proof[48:144])
	c := new(blst.P1Affine).Uncompress(proof[144:])
	if a == nil || b == nil || c == nil || !a.InG1() || !b.InG2() || !c.InG1() {
		return false
	}
	sum := new(blst.P1)
	for i, point := range vk.ic {
		var p blst.P1
		p.FromAffine(point)
		scalar := new(blst.Scalar).FromLEndian(inputs[i*groth16.ScalarSize : (i+1)*groth16.ScalarSize])
		sum.AddAssign(p.Mult(scalar))
	}
	right := blst.Fp12MillerLoop(vk.beta, vk.alpha)
	right.MulAssign(blst.Fp12MillerLoop(vk.gamma, sum.ToAffine()))
	right.MulAssign(blst.Fp12MillerLoop(vk.delta, c))
	return blst.Fp12FinalVerify(blst.Fp12MillerLoop(b, a), right)
}

func TestBlstVerifiesProofs(t *testing.T) {
	engine, err := groth16.NewEngine(groth16.EngineOptions{Backend: groth16.BackendCPU})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	circuit, err := engine.LoadCircuit(groth16.CircuitOptions{Path: testdata + "small.r1cs"})
	if err != nil {
		t.Fatal(err)
	}
	key, err := engine.LoadProvingKey(context.Background(), groth16.KeyOptions{Path: testdata + "small.params", Circuit: circuit})
	if err != nil {
		t.Fatal(err)
	}
	info, err := key.Info()
	if err != nil {
		t.Fatal(err)
	}
	witness, err := groth16.ReadWitness(testdata + "small-0.wtns")
	if err != nil {
		t.Fatal(err)
	}
	inputs, aux := witness[:info.NumInputs*groth16.ScalarSize], witness[info.NumInputs*groth16.ScalarSize:]
	encoded, err := key.VerifyingKey()
	if err != nil {
		t.Fatal(err)
	}
	vk, err := parseKey(encoded)
	if err != nil {
		t.Fatal(err)
	}
	wrong := append([]byte(nil), inputs...)
	wrong[groth16.ScalarSize] ^= 1

	var all sync.WaitGroup
	for range 8 { // both at once
		all.Add(1)
		go func() {
			defer all.Done()
			for range 4 {
				proof, err := engine.Prove(context.Background(), key, groth16.JobOptions{Circuit: circuit, Inputs: inputs, Aux: aux})
				if err != nil {
					t.Error(err)
					return
				}
				if !vk.verify(inputs, proof) {
					t.Error("blst refuses a proof")
				}
				if vk.verify(wrong, proof) {
					t.Error("blst takes a proof of another input")
				}
			}
		}()
	}
	all.Wait()
}
