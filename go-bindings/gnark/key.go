package groth16

import (
	"context"
	"errors"
	"math/bits"
	"slices"
	"unsafe"

	curve "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark/backend"
	bls "github.com/consensys/gnark/backend/groth16/bls12-381"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	cs "github.com/consensys/gnark/constraint/bls12-381"

	lib "github.com/libgroth16/libgroth16/go-bindings"
)

// A Key is a proving key that a [Prover] has loaded, shared by any number of proofs.
type Key struct {
	prover  *Prover
	loaded  *lib.ProvingKey
	info    lib.KeyInfo
	checked bool
}

// Info tells what the key holds. NumInputs counts the constant one.
func (k *Key) Info() lib.KeyInfo {
	if k == nil {
		return lib.KeyInfo{}
	}
	return k.info
}

// SelfChecked tells whether proofs are verified before they are given out: the key was loaded with its verifying key.
func (k *Key) SelfChecked() bool { return k != nil && k.checked }

// Close releases the key; proofs under way keep it alive. It always returns nil.
func (k *Key) Close() error {
	if k != nil {
		k.loaded.Close() // takes nil
	}
	return nil
}

// Prove solves the circuit for a witness and makes the proof. A witness that does not satisfy it is gnark's error. It
// waits for room in the engine's queue and for the proof; when ctx ends it cancels what runs, except gnark's solver.
func (k *Key) Prove(ctx context.Context, r1cs constraint.ConstraintSystem, fullWitness witness.Witness,
	opts ...backend.ProverOption,
) (Proof, error) {
	job, err := k.Start(ctx, r1cs, fullWitness, opts...)
	if err != nil {
		return nil, err
	}
	defer job.Close()
	return job.Proof()
}

// Start solves the circuit for a witness, waits for room in the engine's queue, and returns while the proof is made.
// When ctx ends the job is cancelled. Keep the Job until you are done with it: one that is dropped is cancelled.
//
// Of the options those of gnark's solver matter; hash functions are for commitments, which no circuit here has.
func (k *Key) Start(ctx context.Context, r1cs constraint.ConstraintSystem, fullWitness witness.Witness,
	opts ...backend.ProverOption,
) (*Job, error) {
	const op = "prove"
	if k == nil || k.loaded == nil {
		return nil, invalid(op, "key was not loaded")
	}
	if ctx == nil {
		return nil, invalid(op, "nil context")
	}
	system, err := asR1CS(op, r1cs)
	if err != nil {
		return nil, err
	}
	if err := k.check(op, system); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, &lib.Error{Op: op, Status: lib.ErrCancelled, Cause: err}
	}
	solved, err := solve(op, system, fullWitness, opts)
	if err != nil {
		return nil, err
	}
	started, err := k.prover.engine.StartWhenRoom(ctx, k.loaded, solved.job(k.checked))
	if err != nil {
		solved.wipe()
		return nil, err
	}
	job := &Job{job: started, wiped: make(chan struct{})}
	// Holds what is pinned, and must not reach job, which is cancelled if it is dropped.
	go solved.wipeWhenReleased(started.Events(), job.wiped)
	return job, nil
}

// check refuses a circuit of another shape than the key's.
func (k *Key) check(op string, r1cs *cs.R1CS) error {
	internal, secret, public := r1cs.GetNbVariables()
	rows := uint64(r1cs.GetNbConstraints())
	domain := uint64(1)
	if rows > 1 {
		domain = 1 << bits.Len64(rows-1)
	}
	aux := secret + internal
	if k.info.NumInputs != uint64(public) || k.info.NumAux != uint64(aux) || k.info.DomainSize != domain {
		return invalid(op, "proving key of another circuit: %d public and %d private wires, domain of %d; "+
			"the constraint system has %d, %d and %d", k.info.NumInputs, k.info.NumAux, k.info.DomainSize,
			public, aux, domain)
	}
	return nil
}

// A solution is what the library reads of a solved circuit: Montgomery form, the machine's byte order, which the library
// needs to be little-endian and runs on no other.
type solution struct {
	wires   fr.Vector // the constant one, public, private, internal
	a, b, c fr.Vector // a value for each constraint
	public  int       // the constant one included
}

// solve is what gnark's prover does first.
func solve(op string, r1cs *cs.R1CS, fullWitness witness.Witness, opts []backend.ProverOption) (*solution, error) {
	if fullWitness == nil {
		return nil, invalid(op, "nil witness")
	}
	if _, ok := fullWitness.Vector().(fr.Vector); !ok {
		return nil, witness.ErrInvalidWitness
	}
	for i, option := range opts {
		if option == nil {
			return nil, invalid(op, "option %d is nil", i)
		}
	}
	config, err := backend.NewProverConfig(opts...)
	if err != nil {
		return nil, err
	}
	solved, err := r1cs.Solve(fullWitness, config.SolverOpts...)
	if err != nil {
		return nil, err
	}
	s, ok := solved.(*cs.R1CSSolution)
	if !ok {
		return nil, unsupported(op, "gnark's solver answered a %T", solved)
	}
	return &solution{s.W, s.A, s.B, s.C, r1cs.GetNbPublicVariables()}, nil
}

// job lends the solution.
func (s *solution) job(checked bool) lib.JobOptions {
	return lib.JobOptions{
		A: bytesOf(s.a), B: bytesOf(s.b), C: bytesOf(s.c),
		Inputs:        bytesOf(s.wires[:s.public]),
		Aux:           bytesOf(s.wires[s.public:]),
		ScalarForm:    lib.ScalarsMontgomery,
		ProofFormat:   lib.ProofUncompressed,
		SkipSelfCheck: !checked,
	}
}

// bytesOf is the memory of the scalars.
func bytesOf(scalars fr.Vector) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(scalars))), len(scalars)*fr.Bytes)
}

func (s *solution) wipeRows() {
	clear(s.a)
	clear(s.b)
	clear(s.c)
	s.a, s.b, s.c = nil, nil, nil
}

func (s *solution) wipe() {
	s.wipeRows()
	clear(s.wires)
	s.wires = nil
}

// wipeWhenReleased follows a job's events, which end when the library is done with everything.
func (s *solution) wipeWhenReleased(events <-chan lib.Event, wiped chan<- struct{}) {
	for event := range events {
		if event == lib.EventABCReleased {
			s.wipeRows()
		}
	}
	s.wipe()
	close(wiped)
}

// A Job is one proof that is being made.
type Job struct {
	job   *lib.Job
	wiped chan struct{} // closed once the job is terminal and its secrets are gone
}

// Done returns a channel that is closed when the proof is made, or will not be, and the witness is wiped.
func (j *Job) Done() <-chan struct{} {
	if j == nil {
		return nil
	}
	return j.wiped
}

// Poll tells where the job is. It never waits.
func (j *Job) Poll() (lib.Progress, error) {
	if j == nil || j.job == nil {
		return (*lib.Job)(nil).Poll()
	}
	return j.job.Poll()
}

// Cancel asks for the job to stop: it is done soon, perhaps still with a proof.
func (j *Job) Cancel() {
	if j != nil {
		j.job.Cancel()
	}
}

// Proof waits until the job is done and returns its proof, or why it has none. It may be called again.
func (j *Job) Proof() (Proof, error) {
	if j == nil || j.job == nil {
		_, err := (*lib.Job)(nil).Proof()
		return nil, err
	}
	encoded, err := j.job.Proof()
	if err != nil {
		return nil, err
	}
	<-j.wiped
	return decodeProof(encoded)
}

// Close releases the job in any state: it cancels it if need be, and returns when its witness is wiped. It always
// returns nil.
func (j *Job) Close() error {
	if j != nil && j.job != nil {
		j.job.Close()
		<-j.wiped
	}
	return nil
}

// Sizes of points, uncompressed.
const (
	sizeG1 = 96
	sizeG2 = 192
)

// decodeProof reads A, B and C as the library writes them, uncompressed, which is gnark's encoding of points, too.
func decodeProof(encoded []byte) (Proof, error) {
	const op = "prove"
	if len(encoded) != 2*sizeG1+sizeG2 {
		return nil, &lib.Error{Op: op, Status: lib.ErrInternal, Message: "proof of an odd size"}
	}
	proof := &bls.Proof{Commitments: []curve.G1Affine{}}
	_, errA := proof.Ar.SetBytes(encoded[:sizeG1])
	_, errB := proof.Bs.SetBytes(encoded[sizeG1 : sizeG1+sizeG2])
	_, errC := proof.Krs.SetBytes(encoded[sizeG1+sizeG2:])
	if err := errors.Join(errA, errB, errC); err != nil {
		return nil, &lib.Error{Op: op, Status: lib.ErrInternal, Message: "proof", Cause: err}
	}
	return proof, nil
}

// Verify verifies a proof by the library, with the key's verifying key; without one it fails with ErrInvalid. A proof
// that does not hold for the public witness is ErrSelfCheck.
func (k *Key) Verify(proof Proof, publicWitness witness.Witness) error {
	const op = "verify"
	if k == nil || k.loaded == nil {
		return invalid(op, "key was not loaded")
	}
	if isNil(proof) || publicWitness == nil {
		return invalid(op, "nil proof or witness")
	}
	p, ok := proof.(*bls.Proof)
	if !ok {
		return unsupported(op, "proof is a %T, wanted one over BLS12-381", proof)
	}
	if n := len(p.Commitments); n != 0 {
		return unsupported(op, "proof has commitments (%d)", n)
	}
	public, ok := publicWitness.Vector().(fr.Vector)
	if !ok {
		return witness.ErrInvalidWitness
	}
	inputs := make([]byte, (1+len(public))*fr.Bytes)
	inputs[0] = 1
	for i, value := range public {
		fr.LittleEndian.PutElement((*[fr.Bytes]byte)(inputs[(1+i)*fr.Bytes:]), value)
	}
	a, b, c := p.Ar.RawBytes(), p.Bs.RawBytes(), p.Krs.RawBytes()
	valid, err := k.loaded.Verify(inputs, slices.Concat(a[:], b[:], c[:]))
	if err != nil {
		return err
	}
	if !valid {
		return &lib.Error{Op: op, Status: lib.ErrSelfCheck}
	}
	return nil
}
