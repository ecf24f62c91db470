package groth16

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend"
	gnark "github.com/consensys/gnark/backend/groth16"
	bls "github.com/consensys/gnark/backend/groth16/bls12-381"
	bn254 "github.com/consensys/gnark/backend/groth16/bn254"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	cs "github.com/consensys/gnark/constraint/bls12-381"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/frontend/cs/scs"

	lib "github.com/libgroth16/libgroth16/go-bindings"
)

func wantStatus(t testing.TB, want lib.Status, err error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, wanted %v", err, want)
	}
}

type committed struct {
	X frontend.Variable `gnark:",public"`
	Y frontend.Variable
}

func (c *committed) Define(api frontend.API) error {
	commitment, err := api.(frontend.Committer).Commit(c.Y)
	if err != nil {
		return err
	}
	api.AssertIsDifferent(commitment, 0)
	api.AssertIsEqual(api.Mul(c.Y, c.Y), c.X)
	return nil
}

func TestCommitmentsAreRefused(t *testing.T) {
	p := newProver(t, ProverOptions{})
	compiled := compile(t, &committed{})
	_, _, err := Setup(compiled)
	wantStatus(t, lib.ErrUnsupported, err)
	_, err = DummySetup(compiled)
	wantStatus(t, lib.ErrUnsupported, err)

	pk, vk, err := gnark.Setup(compiled)
	if err != nil {
		t.Fatal(err)
	}
	full, _ := witnesses(t, &committed{X: 9, Y: 3})
	plain := sharedFixture(t, small, 50)
	_, err = p.LoadKey(context.Background(), pk, vk)
	wantStatus(t, lib.ErrUnsupported, err)
	wantStatus(t, lib.ErrUnsupported, BindVerifyingKey(pk, vk))
	_, err = p.Prove(context.Background(), plain.r1cs, pk, plain.full)
	wantStatus(t, lib.ErrUnsupported, err)
	_, err = p.Prove(context.Background(), compiled, plain.pk, full)
	wantStatus(t, lib.ErrUnsupported, err)
	_, err = loadKey(t, p, plain).Prove(context.Background(), compiled, full)
	wantStatus(t, lib.ErrUnsupported, err)
	if !strings.Contains(err.Error(), "commitments") {
		t.Errorf("does not tell why: %v", err)
	}

	// Read by the library itself, too.
	dir := t.TempDir()
	files := writeKeys(t, dir, pk, vk)
	for _, f := range files {
		_, err = p.LoadKeyFile(context.Background(), f.pk, "")
		wantStatus(t, lib.ErrUnsupported, err)
		plainFiles := writeKeys(t, filepath.Join(dir, "plain"), plain.pk, plain.vk)
		_, err = p.LoadKeyFile(context.Background(), plainFiles[0].pk, f.vk)
		if err == nil {
			t.Error("a verifying key with commitments was taken")
		}
	}
}

func TestOtherSystemsAreRefused(t *testing.T) {
	p := newProver(t, ProverOptions{})
	f := sharedFixture(t, small, 50)
	key := loadKey(t, p, f)
	bn254, err := frontend.Compile(ecc.BN254.ScalarField(), r1cs.NewBuilder, &chain{constraints: 4})
	if err != nil {
		t.Fatal(err)
	}
	sparse, err := frontend.Compile(ecc.BLS12_381.ScalarField(), scs.NewBuilder, &chain{constraints: 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, system := range []constraint.ConstraintSystem{bn254, sparse} {
		_, _, err := Setup(system)
		wantStatus(t, lib.ErrUnsupported, err)
		_, err = p.Prove(context.Background(), system, f.pk, f.full)
		wantStatus(t, lib.ErrUnsupported, err)
		_, err = key.Prove(context.Background(), system, f.full)
		wantStatus(t, lib.ErrUnsupported, err)
	}
	for _, empty := range []constraint.ConstraintSystem{NewCS(ecc.BLS12_381), nil, (*cs.R1CS)(nil)} {
		_, _, err := Setup(empty)
		wantStatus(t, lib.ErrInvalid, err)
		_, err = p.Prove(context.Background(), empty, f.pk, f.full)
		wantStatus(t, lib.ErrInvalid, err)
		_, err = key.Prove(context.Background(), empty, f.full)
		wantStatus(t, lib.ErrInvalid, err)
	}
	_, err = p.LoadKey(context.Background(), NewProvingKey(ecc.BN254), f.vk)
	wantStatus(t, lib.ErrUnsupported, err)
	_, err = p.LoadKey(context.Background(), f.pk, NewVerifyingKey(ecc.BN254))
	wantStatus(t, lib.ErrUnsupported, err)
	wantStatus(t, lib.ErrUnsupported, BindVerifyingKey(f.pk, NewVerifyingKey(ecc.BN254)))
	wantStatus(t, lib.ErrInvalid, BindVerifyingKey(f.pk, NewVerifyingKey(ecc.BLS12_381)))
	for _, empty := range []ProvingKey{NewProvingKey(ecc.BLS12_381), nil, (*bls.ProvingKey)(nil)} {
		_, err = p.LoadKey(context.Background(), empty, nil)
		wantStatus(t, lib.ErrInvalid, err)
		_, err = p.Prove(context.Background(), f.r1cs, empty, f.full)
		wantStatus(t, lib.ErrInvalid, err)
		wantStatus(t, lib.ErrInvalid, BindVerifyingKey(empty, f.vk))
	}
}

func TestWitnessErrors(t *testing.T) {
	p := newProver(t, ProverOptions{})
	f := sharedFixture(t, small, 50)
	key := loadKey(t, p, f)
	prove := func(full witness.Witness, opts ...backend.ProverOption) error {
		_, err := key.Prove(context.Background(), f.r1cs, full, opts...)
		_, viaCache := p.Prove(context.Background(), f.r1cs, f.pk, full, opts...)
		if (err == nil) != (viaCache == nil) {
			t.Errorf("key: %v; prover: %v", err, viaCache)
		}
		return err
	}
	wantStatus(t, lib.ErrInvalid, prove(nil))
	wantStatus(t, lib.ErrInvalid, prove(f.full, nil))
	if err := prove(f.public); err == nil {
		t.Error("a public witness was taken for a full one")
	}
	bn254, err := frontend.NewWitness(&chain{X: 1, Y: 2}, ecc.BN254.ScalarField())
	if err != nil {
		t.Fatal(err)
	}
	if err := prove(bn254); !errors.Is(err, witness.ErrInvalidWitness) {
		t.Errorf("got %v, wanted gnark's ErrInvalidWitness", err)
	}
	wantStatus(t, lib.ErrInvalid, key.Verify(nil, f.public))

	// An unsatisfied witness is gnark's own error.
	wrong := assign(50, 0x5a3)
	wrong.OnlyC = 1
	full, _ := witnesses(t, wrong)
	var unsatisfied *cs.UnsatisfiedConstraintError
	if err := prove(full); !errors.As(err, &unsatisfied) {
		t.Errorf("got %v, wanted gnark's UnsatisfiedConstraintError", err)
	}
}

func TestWrongKeys(t *testing.T) {
	p := newProver(t, ProverOptions{})
	f := sharedFixture(t, small, 50)
	other := newFixture(t, small, 50) // of the same shape
	for _, shape := range []*fixture{
		newFixture(t, small, 49),                                     // public inputs
		newFixture(t, 2*small, 50),                                   // domain
		newFixture(t, small-1, 50),                                   // wires
		setUp(t, &privateChain{constraints: 4}, &privateChain{X: 2}), // everything
	} {
		_, byProver := p.Prove(context.Background(), f.r1cs, shape.pk, f.full)
		_, byKey := loadKey(t, p, shape).Prove(context.Background(), f.r1cs, f.full)
		for _, err := range []error{byProver, byKey} {
			wantStatus(t, lib.ErrInvalid, err)
			if err != nil && !strings.Contains(err.Error(), "proving key of another circuit") {
				t.Errorf("found too late, after the witness was solved: %v", err)
			}
		}
		_, err := p.LoadKey(context.Background(), f.pk, shape.vk)
		wantStatus(t, lib.ErrInvalid, err)
	}
	wantStatus(t, lib.ErrInvalid, BindVerifyingKey(f.pk, other.vk))
	wantStatus(t, lib.ErrInvalid, BindVerifyingKey(other.pk, f.vk))
	own, others := f.vk.(*bls.VerifyingKey), other.vk.(*bls.VerifyingKey)
	for name, change := range map[string]func(vk *bls.VerifyingKey){
		"alpha":         func(vk *bls.VerifyingKey) { vk.G1.Alpha = others.G1.Alpha },
		"beta":          func(vk *bls.VerifyingKey) { vk.G2.Beta = others.G2.Beta },
		"delta":         func(vk *bls.VerifyingKey) { vk.G2.Delta = others.G2.Delta },
		"public inputs": func(vk *bls.VerifyingKey) { vk.G1.K = vk.G1.K[1:] },
	} {
		changed := *own
		change(&changed)
		if err := BindVerifyingKey(f.pk, &changed); !errors.Is(err, lib.ErrInvalid) {
			t.Errorf("another %s: %v", name, err)
		}
	}
	if err := Verify(nil, f.vk, f.public); err == nil {
		t.Error("nil proof")
	}

	// The same shape, another circuit: the self-check finds it.
	definition := define(small, 50)
	swapped := *definition
	swapped.constraints--
	differs := setUp(t, &oneMore{circuit: swapped}, &oneMore{circuit: *assign(50, 0x5a3)})
	if a, b := differs.r1cs.GetNbConstraints(), f.r1cs.GetNbConstraints(); a != b {
		t.Fatalf("%d and %d constraints", a, b)
	}
	_, err := p.Prove(context.Background(), f.r1cs, differs.pk, f.full)
	wantStatus(t, lib.ErrSelfCheck, err)
}

// oneMore has a constraint of another form at its end.
type oneMore struct{ circuit }

func (c *oneMore) Define(api frontend.API) error {
	if err := c.circuit.Define(api); err != nil {
		return err
	}
	api.Mul(c.Nowhere, c.Nowhere)
	return nil
}

func TestNothingPanicsOnZeroValues(t *testing.T) {
	f := sharedFixture(t, small, 50)
	for _, p := range []*Prover{nil, {}} {
		_, err := p.Prove(context.Background(), f.r1cs, f.pk, f.full)
		wantStatus(t, lib.ErrInvalid, err)
		_, err = p.LoadKey(context.Background(), f.pk, f.vk)
		wantStatus(t, lib.ErrInvalid, err)
		_, err = p.LoadKeyFile(context.Background(), "/nowhere", "")
		wantStatus(t, lib.ErrInvalid, err)
		p.Engine()
		p.Close()
	}
	for _, k := range []*Key{nil, {}} {
		_, err := k.Prove(context.Background(), f.r1cs, f.full)
		wantStatus(t, lib.ErrInvalid, err)
		wantStatus(t, lib.ErrInvalid, k.Verify(NewProof(ecc.BLS12_381), f.public))
		k.Info()
		k.SelfChecked()
		k.Close()
	}
	for _, j := range []*Job{nil, {}} {
		_, err := j.Proof()
		wantStatus(t, lib.ErrClosed, err)
		_, err = j.Poll()
		wantStatus(t, lib.ErrClosed, err)
		j.Cancel()
		j.Done()
		j.Close()
	}
	p := newProver(t, ProverOptions{})
	key := loadKey(t, p, f)
	wantStatus(t, lib.ErrInvalid, key.Verify((*bls.Proof)(nil), f.public))
	wantStatus(t, lib.ErrUnsupported, key.Verify(NewProof(ecc.BN254), f.public))
	wantStatus(t, lib.ErrInvalid, Verify(NewProof(ecc.BN254), f.vk, f.public))
	wantStatus(t, lib.ErrInvalid, Verify((*bn254.Proof)(nil), (*bn254.VerifyingKey)(nil), f.public))
	var none context.Context
	_, err := p.Prove(none, f.r1cs, f.pk, f.full)
	wantStatus(t, lib.ErrInvalid, err)
	_, err = key.Prove(none, f.r1cs, f.full)
	wantStatus(t, lib.ErrInvalid, err)
	wantStatus(t, lib.ErrInvalid, Verify(NewProof(ecc.BLS12_381), f.vk, f.public, nil))
	key.Close()
	_, err = key.Prove(context.Background(), f.r1cs, f.full)
	wantStatus(t, lib.ErrClosed, err)
	wantStatus(t, lib.ErrClosed, key.Verify(NewProof(ecc.BLS12_381), f.public))
}

func TestRequiredVerifyingKey(t *testing.T) {
	f := sharedFixture(t, small, 50)
	p := newProver(t, ProverOptions{RequireVerifyingKey: true})
	_, err := p.LoadKey(context.Background(), f.pk, nil)
	wantStatus(t, lib.ErrInvalid, err)
	_, err = p.LoadKeyFile(context.Background(), "/nowhere", "")
	wantStatus(t, lib.ErrInvalid, err)
	f.check(t, p)
}

func TestClosedProver(t *testing.T) {
	f := sharedFixture(t, small, 50)
	p := newProver(t, ProverOptions{})
	key := loadKey(t, p, f)
	if _, err := p.Prove(context.Background(), f.r1cs, f.pk, f.full); err != nil {
		t.Fatal(err)
	}
	p.Close()
	p.Close()
	_, err := p.Prove(context.Background(), f.r1cs, f.pk, f.full)
	wantStatus(t, lib.ErrClosed, err)
	_, err = key.Prove(context.Background(), f.r1cs, f.full)
	wantStatus(t, lib.ErrClosed, err)
	_, err = p.LoadKey(context.Background(), f.pk, f.vk)
	wantStatus(t, lib.ErrClosed, err)

	// A borrowed engine stays open.
	engine, err := lib.NewEngine(lib.EngineOptions{Backend: lib.BackendCPU})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	borrower := newProver(t, ProverOptions{Engine: engine})
	if borrower.Engine() != engine {
		t.Error("another engine than the given one")
	}
	borrower.Close()
	if _, err := engine.Info(); err != nil {
		t.Error(err)
	}
}

// repeated has as many constraints as it is told, of the same two wires.
type repeated struct {
	X, Y        frontend.Variable
	constraints int
}

func (c *repeated) Define(api frontend.API) error {
	for range c.constraints {
		api.AssertIsEqual(c.X, c.Y)
	}
	return nil
}

// Where the numbers of wires are equal the domain tells keys apart, and where that is, too, the self-check.
func TestWrongDomain(t *testing.T) {
	p := newProver(t, ProverOptions{})
	fixtures := map[int]*fixture{}
	for _, n := range []int{4, 5, 8, 9} {
		fixtures[n] = setUp(t, &repeated{constraints: n}, &repeated{X: 7, Y: 7})
		fixtures[n].check(t, p)
	}
	prove := func(circuit, key int) error {
		f := fixtures[circuit]
		_, err := p.Prove(context.Background(), f.r1cs, fixtures[key].pk, f.full)
		return err
	}
	for _, pair := range [][2]int{{4, 5}, {5, 4}, {8, 9}, {9, 8}} {
		err := prove(pair[0], pair[1])
		wantStatus(t, lib.ErrInvalid, err)
		if err != nil && !strings.Contains(err.Error(), "proving key of another circuit") {
			t.Errorf("%v: %v", pair, err)
		}
	}
	wantStatus(t, lib.ErrSelfCheck, prove(5, 8))
	wantStatus(t, lib.ErrSelfCheck, prove(8, 5))
}
