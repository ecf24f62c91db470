package groth16

import (
	"context"
	"sync"

	"github.com/consensys/gnark/backend"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
)

var standard struct {
	sync.Mutex
	prover *Prover
}

// Default returns the prover that [Prove] uses. Unless [SetDefault] has set one, it is made, with default options, when
// it is first needed. All that use this package share it: whoever closes it ends Prove for them, until SetDefault gives
// another.
func Default() (*Prover, error) {
	standard.Lock()
	defer standard.Unlock()
	if standard.prover == nil {
		prover, err := NewProver(ProverOptions{})
		if err != nil {
			return nil, err
		}
		standard.prover = prover
	}
	return standard.prover, nil
}

// SetDefault makes p the prover that [Prove] uses, and returns the one before, or nil, which is the caller's to close. A
// nil p has [Default] make one anew.
func SetDefault(p *Prover) *Prover {
	standard.Lock()
	defer standard.Unlock()
	before := standard.prover
	standard.prover = p
	return before
}

// Prove is gnark's Prove through [Default]: it solves the circuit for a witness and makes the proof. A key that Setup
// made, or that [BindVerifyingKey] has bound, has its proofs verified before they are given out; an unbound one has
// not: see the package's documentation. Of the options those of gnark's solver matter.
func Prove(r1cs constraint.ConstraintSystem, pk ProvingKey, fullWitness witness.Witness,
	opts ...backend.ProverOption,
) (Proof, error) {
	p, err := Default()
	if err != nil {
		return nil, err
	}
	return p.Prove(context.Background(), r1cs, pk, fullWitness, opts...)
}
