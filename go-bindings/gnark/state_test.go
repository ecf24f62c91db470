package groth16

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	bls "github.com/consensys/gnark/backend/groth16/bls12-381"
	"github.com/consensys/gnark/logger"
	"github.com/rs/zerolog"

	lib "github.com/libgroth16/libgroth16/go-bindings"
)

func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 20 s: %s", what)
		}
	}
}

// numKeys is how many keys the prover's cache holds.
func (p *Prover) numKeys() int {
	p.cache.mu.Lock()
	defer p.cache.mu.Unlock()
	return len(p.cache.entries)
}

// The one state of the package, as programs use it.
func TestPackageProve(t *testing.T) {
	SetDefault(newProver(t, ProverOptions{}))
	defer SetDefault(nil)
	f := newFixture(t, small, 3)
	for range 2 {
		proof, err := Prove(f.r1cs, f.pk, f.full)
		if err != nil {
			t.Fatal(err)
		}
		if err := Verify(proof, f.vk, f.public); err != nil {
			t.Error(err)
		}
	}
	p, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	if n := p.numKeys(); n != 1 {
		t.Errorf("%d keys were loaded", n)
	}
	runtime.KeepAlive(f)
}

func TestDefaultIsMadeOnce(t *testing.T) {
	if before := SetDefault(nil); before != nil {
		t.Fatal("there was a default prover before its first use")
	}
	first, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	second, err := Default()
	if err != nil || first != second {
		t.Errorf("another prover, %v", err)
	}
	if SetDefault(nil) != first {
		t.Error("SetDefault returned another prover")
	}
	first.Close()
}

func TestConcurrent(t *testing.T) {
	p := newProver(t, ProverOptions{EngineOptions: lib.EngineOptions{MaxQueuedJobs: 3}}) // so that some wait
	fixtures := []*fixture{newFixture(t, small, 1), newFixture(t, small/2, 0)}
	var all sync.WaitGroup
	for i := range 16 {
		all.Add(1)
		go func() {
			defer all.Done()
			f := fixtures[i%len(fixtures)]
			for range 2 {
				proof, err := p.Prove(context.Background(), f.r1cs, f.pk, f.full)
				if err != nil {
					t.Error(err)
					return
				}
				mustVerify(t, f, nil, proof)
			}
		}()
	}
	all.Wait()
	if n := p.numKeys(); n != len(fixtures) {
		t.Errorf("%d keys were loaded, wanted %d", n, len(fixtures))
	}
	runtime.KeepAlive(fixtures)
}

// Keys are read anew into one variable, and bound, while others prove with what it held.
func TestKeyIsReadAnew(t *testing.T) {
	p := newProver(t, ProverOptions{})
	first, second := newFixture(t, small, 3), newFixture(t, small, 3)
	pk := new(bls.ProvingKey)
	for i, f := range []*fixture{first, second, first} {
		var encoded bytes.Buffer
		if _, err := f.pk.WriteRawTo(&encoded); err != nil {
			t.Fatal(err)
		}
		if _, err := pk.UnsafeReadFrom(&encoded); err != nil {
			t.Fatal(err)
		}
		for _, bind := range []bool{false, true} {
			if bind {
				if err := BindVerifyingKey(pk, f.vk); err != nil {
					t.Fatal(err)
				}
			}
			proof, err := p.Prove(context.Background(), f.r1cs, pk, f.full)
			if err != nil {
				t.Fatal(err)
			}
			mustVerify(t, f, nil, proof)
			loaded, err := p.cache.acquire(context.Background(), p, pk)
			if err != nil {
				t.Fatal(err)
			}
			if loaded.key.SelfChecked() != bind {
				t.Errorf("step %d: self-checked is %t, bound is %t", i, loaded.key.SelfChecked(), bind)
			}
			p.cache.release(loaded)
		}
	}
	if n := p.numKeys(); n != 1 {
		t.Errorf("%d keys in the cache", n)
	}
	eventually(t, "only the last key takes memory", func() bool {
		info, err := p.Engine().Info()
		if err != nil {
			t.Fatal(err)
		}
		return info.HostBytesUsed < 2*loadedBytes(t, p, pk)
	})
}

// loadedBytes is what the loaded form of pk takes.
func loadedBytes(t *testing.T, p *Prover, pk *bls.ProvingKey) uint64 {
	loaded, err := p.cache.acquire(context.Background(), p, pk)
	if err != nil {
		t.Fatal(err)
	}
	defer p.cache.release(loaded)
	return loaded.key.Info().HostBytes
}

// A retired key lives until its last user has gone.
func TestRetiredKeyStaysForItsUsers(t *testing.T) {
	p := newProver(t, ProverOptions{})
	first, second := newFixture(t, small/2, 3), newFixture(t, small/2, 3)
	pk := *first.gnarkPK()
	used, err := p.cache.acquire(context.Background(), p, &pk)
	if err != nil {
		t.Fatal(err)
	}
	pk = *second.gnarkPK()
	if _, err := p.Prove(context.Background(), second.r1cs, &pk, second.full); err != nil {
		t.Fatal(err)
	}
	if _, err := used.key.Prove(context.Background(), first.r1cs, first.full); err != nil {
		t.Errorf("a key in use was closed: %v", err)
	}
	p.cache.release(used)
	_, err = used.key.Prove(context.Background(), first.r1cs, first.full)
	wantStatus(t, lib.ErrClosed, err)
}

func TestCollectedKeyIsFreed(t *testing.T) {
	p := newProver(t, ProverOptions{})
	bindings := func() int {
		bound.Lock()
		defer bound.Unlock()
		return len(bound.to)
	}
	used := func() uint64 {
		info, err := p.Engine().Info()
		if err != nil {
			t.Fatal(err)
		}
		return info.HostBytesUsed
	}
	runtime.GC()
	before := used()
	func() {
		f := newFixture(t, small, 3)
		if _, err := p.Prove(context.Background(), f.r1cs, f.pk, f.full); err != nil {
			t.Fatal(err)
		}
		if p.numKeys() != 1 || bindings() == 0 || used() <= before {
			t.Errorf("%d keys, %d bindings, %d bytes", p.numKeys(), bindings(), used())
		}
		runtime.KeepAlive(f)
	}()
	held := bindings()
	eventually(t, "the key is freed", func() bool {
		runtime.GC()
		return p.numKeys() == 0 && bindings() < held && used() == before
	})
}

// global is no memory of the heap's.
var global bls.ProvingKey

func TestGlobalKey(t *testing.T) {
	p := newProver(t, ProverOptions{})
	f := newFixture(t, small/2, 3)
	global = *f.gnarkPK()
	if err := BindVerifyingKey(&global, f.vk); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		proof, err := p.Prove(context.Background(), f.r1cs, &global, f.full)
		if err != nil {
			t.Fatal(err)
		}
		mustVerify(t, f, nil, proof)
	}
	if p.numKeys() != 1 {
		t.Errorf("%d keys", p.numKeys())
	}
}

// An unbound key is told of once.
func TestUnboundIsLogged(t *testing.T) {
	var log bytes.Buffer
	before := logger.Logger()
	logger.Set(zerolog.New(&log).Level(zerolog.WarnLevel))
	defer logger.Set(before)
	p := newProver(t, ProverOptions{})
	f := newFixture(t, small/2, 3)
	unbound := *f.gnarkPK()
	for range 3 {
		proof, err := p.Prove(context.Background(), f.r1cs, &unbound, f.full)
		if err != nil {
			t.Fatal(err)
		}
		mustVerify(t, f, nil, proof)
	}
	if _, err := p.Prove(context.Background(), f.r1cs, f.pk, f.full); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(log.String(), "without a verifying key"); n != 1 {
		t.Errorf("told %d times: %s", n, log.String())
	}
}

// No file is left, also where the key is refused.
func TestTempDirIsEmpty(t *testing.T) {
	dir := t.TempDir()
	p := newProver(t, ProverOptions{TempDir: dir})
	f := newFixture(t, small/2, 3)
	loadKey(t, p, f)
	broken := *f.gnarkPK()
	broken.NbInfinityA++
	if _, err := p.LoadKey(context.Background(), &broken, nil); err == nil {
		t.Error("a broken key was taken")
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
	missing := newProver(t, ProverOptions{TempDir: dir + "/nowhere"})
	_, err = missing.LoadKey(context.Background(), f.pk, f.vk)
	wantStatus(t, lib.ErrIO, err)
}

func isZero(scalars fr.Vector) bool {
	for i := range scalars {
		if !scalars[i].IsZero() {
			return false
		}
	}
	return true
}

// The rows are wiped when they are released, the wires when all is.
func TestSecretsAreWiped(t *testing.T) {
	ones := func() fr.Vector {
		v := make(fr.Vector, 5)
		for i := range v {
			v[i].SetOne()
		}
		return v
	}
	s := &solution{ones(), ones(), ones(), ones(), 1}
	wires, a, b, c := s.wires, s.a, s.b, s.c
	events, wiped := make(chan lib.Event), make(chan struct{})
	go s.wipeWhenReleased(events, wiped)
	events <- lib.EventABCReleased
	events <- lib.EventTerminal // is taken after the rows were wiped
	if !isZero(a) || !isZero(b) || !isZero(c) || isZero(wires) {
		t.Error("not the rows alone were wiped")
	}
	close(events)
	<-wiped
	if !isZero(wires) {
		t.Error("wires were left")
	}
}

// What is lent is the memory itself, and it is wiped when a job has ended.
func TestSolutionIsLent(t *testing.T) {
	f := sharedFixture(t, small, 50)
	p := newProver(t, ProverOptions{})
	key := loadKey(t, p, f)
	system, err := asR1CS("test", f.r1cs)
	if err != nil {
		t.Fatal(err)
	}
	solved, err := solve("test", system, f.full, nil)
	if err != nil {
		t.Fatal(err)
	}
	wires, a := solved.wires, solved.a
	options := solved.job(true)
	if len(options.Inputs) != 51*32 || len(options.Inputs)+len(options.Aux) != 32*len(wires) {
		t.Fatalf("%d bytes of inputs, %d of aux, %d wires", len(options.Inputs), len(options.Aux), len(wires))
	}
	job, err := p.Engine().Start(context.Background(), key.loaded, options)
	if err != nil {
		t.Fatal(err)
	}
	defer job.Close()
	wiped := make(chan struct{})
	go solved.wipeWhenReleased(job.Events(), wiped)
	if _, err := job.Proof(); err != nil {
		t.Error(err)
	}
	<-wiped
	if !isZero(wires) || !isZero(a) {
		t.Error("secrets were left")
	}
}

func TestKeysOfCurves(t *testing.T) {
	for _, id := range []ecc.ID{ecc.BLS12_381, ecc.BN254} {
		if NewProvingKey(id).CurveID() != id || NewVerifyingKey(id).CurveID() != id || NewProof(id).CurveID() != id {
			t.Errorf("%v: another curve", id)
		}
	}
}
