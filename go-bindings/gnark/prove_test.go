package groth16

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"os"
	"testing"
	"time"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend"
	gnark "github.com/consensys/gnark/backend/groth16"
	bls "github.com/consensys/gnark/backend/groth16/bls12-381"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"

	lib "github.com/libgroth16/libgroth16/go-bindings"
)

// long is set by `ffi-tests/gnark/run.sh --long`.
var long = os.Getenv("GROTH16_GNARK_LONG") != ""

// skipShort leaves out what takes long under the race detector and shares nothing between goroutines.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("with -short")
	}
}

func newProver(t testing.TB, options ProverOptions) *Prover {
	t.Helper()
	options.EngineOptions.Backend = lib.BackendCPU
	prover, err := NewProver(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { prover.Close() })
	return prover
}

func loadKey(t testing.TB, p *Prover, f *fixture) *Key {
	t.Helper()
	key, err := p.LoadKey(context.Background(), f.pk, f.vk)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { key.Close() })
	return key
}

// mustVerify has both gnark and the library verify a proof.
func mustVerify(t testing.TB, f *fixture, key *Key, proof Proof) {
	t.Helper()
	if err := gnark.Verify(proof, f.vk, f.public); err != nil {
		t.Errorf("gnark: %v", err)
	}
	if key == nil {
		return
	}
	if err := key.Verify(proof, f.public); err != nil {
		t.Errorf("library: %v", err)
	}
}

// check proves f's statement by the library and by gnark, and has each verify the other's proof.
func (f *fixture) check(t *testing.T, p *Prover) {
	t.Helper()
	key := loadKey(t, p, f)
	proof, err := key.Prove(context.Background(), f.r1cs, f.full)
	if err != nil {
		t.Fatal(err)
	}
	mustVerify(t, f, key, proof)
	proof, err = gnark.Prove(f.r1cs, f.pk, f.full)
	if err != nil {
		t.Fatal(err)
	}
	if err := key.Verify(proof, f.public); err != nil {
		t.Errorf("library, of gnark's proof: %v", err)
	}
}

func TestSizes(t *testing.T) {
	skipShort(t)
	p := newProver(t, ProverOptions{})
	sizes := []int{10, 12}
	if long {
		sizes = []int{10, 11, 12, 13, 14, 15, 16}
	}
	for _, log := range sizes {
		for _, public := range []int{0, 1, 50, 1000} {
			t.Run(fmt.Sprintf("2^%d, %d public", log, public), func(t *testing.T) {
				newFixture(t, 1<<log, public).check(t, p)
			})
		}
	}
}

func TestEdges(t *testing.T) {
	skipShort(t)
	p := newProver(t, ProverOptions{})
	for _, n := range []int{1, 2, 3, 4, 5, 8, 9} {
		t.Run(fmt.Sprintf("%d, private", n), func(t *testing.T) {
			setUp(t, &privateChain{constraints: n}, &privateChain{X: 3}).check(t, p)
		})
		t.Run(fmt.Sprintf("%d, public", n), func(t *testing.T) {
			setUp(t, &chain{constraints: n}, &chain{X: 5, Y: 7}).check(t, p)
		})
		t.Run(fmt.Sprintf("%d, of zeros", n), func(t *testing.T) {
			setUp(t, &chain{constraints: n}, &chain{X: 0, Y: 0}).check(t, p)
		})
	}
	for _, n := range []int{31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 257, 1023, 1025} {
		public := n - smallest(0)
		t.Run(fmt.Sprintf("%d, %d public", n, public), func(t *testing.T) { newFixture(t, n, public).check(t, p) })
		t.Run(fmt.Sprintf("%d, 2 public", n), func(t *testing.T) { newFixture(t, n, 2).check(t, p) })
	}
}

// allPublic has no private variable but the products.
type allPublic struct {
	X [3]frontend.Variable `gnark:",public"`
}

func (c *allPublic) Define(api frontend.API) error {
	api.AssertIsEqual(api.Mul(c.X[0], c.X[1]), c.X[2])
	return nil
}

// onlyChecks has no private variable at all.
type onlyChecks struct {
	X [2]frontend.Variable `gnark:",public"`
}

func (c *onlyChecks) Define(api frontend.API) error {
	api.AssertIsEqual(c.X[0], c.X[1])
	api.AssertIsBoolean(c.X[0])
	return nil
}

// freeInput has a public input that occurs nowhere: its point in the verifying key is infinity.
type freeInput struct {
	X, Free frontend.Variable `gnark:",public"`
	Y       frontend.Variable
}

func (c *freeInput) Define(api frontend.API) error {
	api.AssertIsEqual(api.Mul(c.Y, c.Y), c.X)
	return nil
}

func TestOddShapes(t *testing.T) {
	p := newProver(t, ProverOptions{})
	t.Run("all inputs public", func(t *testing.T) {
		setUp(t, &allPublic{}, &allPublic{X: [3]frontend.Variable{3, 5, 15}}).check(t, p)
	})
	t.Run("no private wire", func(t *testing.T) {
		setUp(t, &onlyChecks{}, &onlyChecks{X: [2]frontend.Variable{1, 1}}).check(t, p)
	})
	t.Run("a public input without influence", func(t *testing.T) {
		f := setUp(t, &freeInput{}, &freeInput{X: 9, Free: 4, Y: 3})
		f.check(t, p)
		if !loadKey(t, p, f).Info().UnconstrainedInputs {
			t.Error("the key does not tell of it")
		}
	})
}

// A proof is gnark's in all that its users see.
func TestProofIsGnarks(t *testing.T) {
	f := sharedFixture(t, small, 50)
	p := newProver(t, ProverOptions{})
	key := loadKey(t, p, f)
	proof, err := key.Prove(context.Background(), f.r1cs, f.full)
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range []bool{false, true} {
		var encoded, again bytes.Buffer
		write := Proof.WriteTo
		if raw {
			write = Proof.WriteRawTo
		}
		if _, err := write(proof, &encoded); err != nil {
			t.Fatal(err)
		}
		read := NewProof(ecc.BLS12_381)
		if _, err := read.ReadFrom(bytes.NewReader(encoded.Bytes())); err != nil {
			t.Fatal(err)
		}
		mustVerify(t, f, key, read)
		if _, err := write(read, &again); err != nil || !bytes.Equal(encoded.Bytes(), again.Bytes()) {
			t.Errorf("raw %t: not the same bytes after reading them: %v", raw, err)
		}
	}
	second, err := key.Prove(context.Background(), f.r1cs, f.full)
	if err != nil {
		t.Fatal(err)
	}
	if second.(*bls.Proof).Ar == proof.(*bls.Proof).Ar {
		t.Error("two proofs share their randomness")
	}
}

// What a wrong proof or input is told apart by.
func TestVerifyRefuses(t *testing.T) {
	f := sharedFixture(t, small, 50)
	p := newProver(t, ProverOptions{})
	key := loadKey(t, p, f)
	proof, err := key.Prove(context.Background(), f.r1cs, f.full)
	if err != nil {
		t.Fatal(err)
	}
	_, other := witnesses(t, assign(50, 77))
	wantStatus(t, lib.ErrSelfCheck, key.Verify(proof, other))
	_, short := witnesses(t, assign(49, 77))
	wantStatus(t, lib.ErrInvalid, key.Verify(proof, short))
	bad := *proof.(*bls.Proof)
	bad.Krs.Neg(&bad.Krs)
	wantStatus(t, lib.ErrSelfCheck, key.Verify(&bad, f.public))
	if err := Verify(&bad, f.vk, f.public); err == nil {
		t.Error("gnark verified a wrong proof")
	}
}

func TestSolverOptions(t *testing.T) {
	p := newProver(t, ProverOptions{})
	called := 0
	double := func(_ *big.Int, in, out []*big.Int) error {
		called++
		out[0].Add(in[0], in[0])
		return nil
	}
	definition := &hinted{hint: double}
	f := setUp(t, definition, &hinted{X: 21, Y: 42})
	key := loadKey(t, p, f)
	if _, err := key.Prove(context.Background(), f.r1cs, f.full); err == nil {
		t.Error("a hint that is not known was found")
	}
	proof, err := key.Prove(context.Background(), f.r1cs, f.full, backend.WithSolverOptions(solver.WithHints(double)))
	if err != nil {
		t.Fatal(err)
	}
	mustVerify(t, f, key, proof)
	if called != 1 {
		t.Errorf("hint was called %d times", called)
	}
}

type hinted struct {
	X    frontend.Variable
	Y    frontend.Variable `gnark:",public"`
	hint solver.Hint
}

func (c *hinted) Define(api frontend.API) error {
	double, err := api.Compiler().NewHint(c.hint, 1, c.X)
	if err != nil {
		return err
	}
	api.AssertIsEqual(double[0], c.Y)
	api.AssertIsEqual(api.Add(c.X, c.X), c.Y)
	return nil
}

// The split pipeline: many jobs in flight, each solved while others are proved.
func TestStart(t *testing.T) {
	f := sharedFixture(t, small, 50)
	p := newProver(t, ProverOptions{})
	key := loadKey(t, p, f)
	var jobs []*Job
	for range 4 {
		job, err := key.Start(context.Background(), f.r1cs, f.full)
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, job)
	}
	for _, job := range jobs {
		<-job.Done()
		if progress, err := job.Poll(); err != nil || !progress.State.Terminal() {
			t.Errorf("done, but %v, %v", progress.State, err)
		}
		for range 2 {
			proof, err := job.Proof()
			if err != nil {
				t.Fatal(err)
			}
			mustVerify(t, f, key, proof)
		}
		job.Close()
		job.Close()
		if _, err := job.Proof(); err == nil {
			t.Error("a closed job has a proof")
		}
	}
}

func TestCancel(t *testing.T) {
	f := sharedFixture(t, small, 50)
	p := newProver(t, ProverOptions{})
	key := loadKey(t, p, f)
	ctx, cancel := context.WithCancel(context.Background())
	var jobs []*Job
	for range 8 {
		job, err := key.Start(ctx, f.r1cs, f.full)
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, job)
	}
	cancel()
	for i, job := range jobs {
		select {
		case <-job.Done():
		case <-time.After(time.Minute):
			t.Fatalf("job %d is not done", i)
		}
		if _, err := job.Proof(); err != nil {
			wantStatus(t, lib.ErrCancelled, err)
		} else if i == len(jobs)-1 {
			t.Error("the last job was not cancelled")
		}
		job.Close()
	}
	_, err := key.Prove(ctx, f.r1cs, f.full)
	wantStatus(t, lib.ErrCancelled, err)
	_, err = p.LoadKey(ctx, f.pk, f.vk)
	wantStatus(t, lib.ErrCancelled, err)
}
