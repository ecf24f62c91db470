package groth16

import (
	"fmt"
	"reflect"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend"
	gnark "github.com/consensys/gnark/backend/groth16"
	bls "github.com/consensys/gnark/backend/groth16/bls12-381"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	cs "github.com/consensys/gnark/constraint/bls12-381"

	lib "github.com/libgroth16/libgroth16/go-bindings"
)

// gnark's own types.
type (
	Proof        = gnark.Proof
	ProvingKey   = gnark.ProvingKey
	VerifyingKey = gnark.VerifyingKey
)

// NewProof returns an empty proof to read into. Like gnark's, it panics for a curve that gnark does not know.
func NewProof(curve ecc.ID) Proof { return gnark.NewProof(curve) }

// NewProvingKey returns an empty proving key to read into. Like gnark's, it panics for a curve that gnark does not know.
func NewProvingKey(curve ecc.ID) ProvingKey { return gnark.NewProvingKey(curve) }

// NewVerifyingKey returns an empty verifying key to read into. Like gnark's, it panics for a curve that gnark does not
// know.
func NewVerifyingKey(curve ecc.ID) VerifyingKey { return gnark.NewVerifyingKey(curve) }

// NewCS returns an empty R1CS to read into. Like gnark's, it panics for a curve that gnark does not know.
func NewCS(curve ecc.ID) constraint.ConstraintSystem { return gnark.NewCS(curve) }

// Setup is gnark's, for circuits that Prove takes: it makes a key pair from random numbers that must be forgotten. The
// proving key is bound to the verifying key, as by [BindVerifyingKey].
func Setup(r1cs constraint.ConstraintSystem) (ProvingKey, VerifyingKey, error) {
	const op = "setup"
	system, err := asR1CS(op, r1cs)
	if err != nil {
		return nil, nil, err
	}
	pk, vk := new(bls.ProvingKey), new(bls.VerifyingKey)
	if err := bls.Setup(system, pk, vk); err != nil {
		return nil, nil, err
	}
	if err := BindVerifyingKey(pk, vk); err != nil {
		return nil, nil, err
	}
	return pk, vk, nil
}

// DummySetup is gnark's, for circuits that Prove takes: a proving key of random points, for benchmarks. No proof of it
// verifies.
func DummySetup(r1cs constraint.ConstraintSystem) (ProvingKey, error) {
	system, err := asR1CS("dummy setup", r1cs)
	if err != nil {
		return nil, err
	}
	pk := new(bls.ProvingKey)
	if err := bls.DummySetup(system, pk); err != nil {
		return nil, err
	}
	return pk, nil
}

// Verify is gnark's, for all of its curves; arguments on which that panics are errors here.
func Verify(proof Proof, vk VerifyingKey, publicWitness witness.Witness, opts ...backend.VerifierOption) error {
	const op = "verify"
	if isNil(proof) || isNil(vk) || publicWitness == nil {
		return invalid(op, "nil proof, verifying key or witness")
	}
	if proof.CurveID() != vk.CurveID() {
		return invalid(op, "a proof over %s, a verifying key over %s", proof.CurveID(), vk.CurveID())
	}
	for i, option := range opts {
		if option == nil {
			return invalid(op, "option %d is nil", i)
		}
	}
	return gnark.Verify(proof, vk, publicWitness, opts...)
}

// isNil tells of an interface of gnark's whether it holds nothing, or a nil pointer.
func isNil(value any) bool {
	if value == nil {
		return true
	}
	v := reflect.ValueOf(value)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// asR1CS refuses what cannot be proved here, before anything is solved.
func asR1CS(op string, r1cs constraint.ConstraintSystem) (*cs.R1CS, error) {
	if isNil(r1cs) {
		return nil, invalid(op, "nil constraint system")
	}
	system, ok := r1cs.(*cs.R1CS)
	if !ok {
		return nil, unsupported(op, "constraint system is a %T, wanted an R1CS over BLS12-381", r1cs)
	}
	switch system.Type { // one type of Go's holds all three
	case constraint.SystemR1CS:
	case constraint.SystemSparseR1CS:
		return nil, unsupported(op, "constraint system is a sparse one, for PLONK, wanted an R1CS")
	default:
		return nil, invalid(op, "constraint system is empty: nothing was compiled or read into it")
	}
	switch commitments := system.CommitmentInfo.(type) {
	case nil:
	case constraint.Groth16Commitments:
		if n := len(commitments); n != 0 {
			return nil, unsupported(op, "circuit has commitments (%d)", n)
		}
	default:
		return nil, unsupported(op, "circuit has commitments of type %T", commitments)
	}
	return system, nil
}

// asProvingKey refuses keys that cannot be loaded.
func asProvingKey(op string, pk ProvingKey) (*bls.ProvingKey, error) {
	if isNil(pk) {
		return nil, invalid(op, "nil proving key")
	}
	key, ok := pk.(*bls.ProvingKey)
	if !ok {
		return nil, unsupported(op, "proving key is a %T, wanted one over BLS12-381", pk)
	}
	if key.Domain.Cardinality == 0 {
		return nil, invalid(op, "proving key is empty: nothing was read into it")
	}
	if n := len(key.CommitmentKeys); n != 0 {
		return nil, unsupported(op, "proving key has commitments (%d)", n)
	}
	return key, nil
}

// asVerifyingKey refuses keys that cannot be loaded.
func asVerifyingKey(op string, vk VerifyingKey) (*bls.VerifyingKey, error) {
	if isNil(vk) {
		return nil, invalid(op, "nil verifying key")
	}
	key, ok := vk.(*bls.VerifyingKey)
	if !ok {
		return nil, unsupported(op, "verifying key is a %T, wanted one over BLS12-381", vk)
	}
	if len(key.G1.K) == 0 {
		return nil, invalid(op, "verifying key is empty: nothing was read into it")
	}
	if n := len(key.CommitmentKeys) + len(key.PublicAndCommitmentCommitted); n != 0 {
		return nil, unsupported(op, "verifying key has commitments (%d)", n)
	}
	return key, nil
}

func invalid(op, format string, args ...any) error {
	return &lib.Error{Op: op, Status: lib.ErrInvalid, Message: fmt.Sprintf(format, args...)}
}

func unsupported(op, format string, args ...any) error {
	return &lib.Error{Op: op, Status: lib.ErrUnsupported, Message: fmt.Sprintf(format, args...)}
}
