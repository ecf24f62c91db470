package groth16_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	groth16 "github.com/libgroth16/libgroth16/go-bindings"
)

func discard() *slog.Logger {
	return slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: groth16.LevelTrace}))
}

func TestWrongWitness(t *testing.T) {
	b := newBench(t, smallFixture(t), groth16.EngineOptions{})
	options := b.job()
	options.Aux = bytes.Clone(b.aux())
	options.Aux[5*groth16.ScalarSize] ^= 1
	_, err := b.engine.Prove(context.Background(), b.key, options)
	var typed *groth16.Error
	if !errors.Is(err, groth16.ErrUnsatisfied) || !errors.As(err, &typed) || !strings.Contains(typed.Message, "row") {
		t.Errorf("%v", err)
	}
	if errors.Is(err, groth16.ErrFormat) || typed.Status.Name() != "GROTH16_E_UNSATISFIED" {
		t.Errorf("%v is %s", err, typed.Status.Name())
	}
}

func TestWrongSizes(t *testing.T) {
	b := newBench(t, smallFixture(t), groth16.EngineOptions{})
	long := append(bytes.Clone(b.witness), make([]byte, groth16.ScalarSize)...)
	split := b.numInputs * groth16.ScalarSize
	ones := func(n int) []byte { return make([]byte, n*groth16.ScalarSize) }
	for name, change := range map[string]func(*groth16.JobOptions){
		"aux n-1":      func(o *groth16.JobOptions) { o.Aux = o.Aux[:len(o.Aux)-groth16.ScalarSize] },
		"aux n+1":      func(o *groth16.JobOptions) { o.Aux = long[split:] },
		"aux 0":        func(o *groth16.JobOptions) { o.Aux = nil },
		"aux empty":    func(o *groth16.JobOptions) { o.Aux = []byte{} },
		"aux a byte":   func(o *groth16.JobOptions) { o.Aux = long[split : len(long)-groth16.ScalarSize+1] },
		"inputs n-1":   func(o *groth16.JobOptions) { o.Inputs = o.Inputs[:split-groth16.ScalarSize] },
		"inputs n+1":   func(o *groth16.JobOptions) { o.Inputs = long[:split+groth16.ScalarSize] },
		"inputs 0":     func(o *groth16.JobOptions) { o.Inputs = nil },
		"a circuit, A": func(o *groth16.JobOptions) { o.A = ones(64) },
		"rows differ":  func(o *groth16.JobOptions) { o.Circuit, o.A, o.B, o.C = nil, ones(64), ones(63), ones(64) },
		"rows n+1":     func(o *groth16.JobOptions) { o.Circuit, o.A, o.B, o.C = nil, ones(65), ones(65), ones(65) },
		"rows 0":       func(o *groth16.JobOptions) { o.Circuit = nil },
		"r":            func(o *groth16.JobOptions) { o.R = o.R[:31] },
		"s":            func(o *groth16.JobOptions) { o.S = ones(2) },
		"s modulus":    func(o *groth16.JobOptions) { o.S = bytes.Repeat([]byte{0xff}, groth16.ScalarSize) },
		"form":         func(o *groth16.JobOptions) { o.ScalarForm = 9 },
		"format":       func(o *groth16.JobOptions) { o.ProofFormat = -1 },
	} {
		options := b.job()
		change(&options)
		_, err := b.engine.Prove(context.Background(), b.key, options)
		if !errors.Is(err, groth16.ErrInvalid) && !errors.Is(err, groth16.ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The runtime panics if what a refused job lent was left pinned.
	runtime.GC()
	time.Sleep(10 * time.Millisecond)
	runtime.GC()
	// A key does not know how many rows there are, only their domain.
	options := b.job()
	options.Circuit, options.A, options.B, options.C = nil, ones(63), ones(63), ones(63)
	if _, err := b.engine.Prove(context.Background(), b.key, options); !errors.Is(err, groth16.ErrSelfCheck) {
		t.Errorf("rows n-1: %v", err)
	}
	if _, err := b.engine.Prove(context.Background(), b.key, b.job()); err != nil {
		t.Error(err)
	}
}

func TestWrongKeysAndCircuits(t *testing.T) {
	b := newBench(t, smallFixture(t), groth16.EngineOptions{})
	r := readR1CS(t, b.r1cs)
	params, err := os.ReadFile(b.params)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(params)
	damaged[len(damaged)/2] ^= 1
	short := groth16.NewBits(3)
	for name, c := range map[string]struct {
		options groth16.KeyOptions
		want    error
	}{
		"nothing":      {groth16.KeyOptions{}, groth16.ErrInvalid},
		"no file":      {groth16.KeyOptions{Path: "/nowhere/key", Circuit: b.circuit}, groth16.ErrIO},
		"zero byte":    {groth16.KeyOptions{Path: b.params + "\x00x"}, groth16.ErrInvalid},
		"both":         {groth16.KeyOptions{Path: b.params, Data: params, Circuit: b.circuit}, groth16.ErrInvalid},
		"damaged":      {groth16.KeyOptions{Data: damaged, Circuit: b.circuit}, groth16.ErrFormat},
		"cut off":      {groth16.KeyOptions{Data: params[:len(params)-1], Circuit: b.circuit}, groth16.ErrFormat},
		"digest":       {groth16.KeyOptions{Data: params, Circuit: b.circuit, Digest: make([]byte, 64)}, groth16.ErrFormat},
		"digest short": {groth16.KeyOptions{Data: params, Circuit: b.circuit, Digest: make([]byte, 63)}, groth16.ErrInvalid},
		"format":       {groth16.KeyOptions{Data: params, Circuit: b.circuit, Format: 99}, groth16.ErrInvalid},
		"bits lie":     {groth16.KeyOptions{Data: params, AAux: groth16.Bits{Words: short.Words, Len: 65}}, groth16.ErrInvalid},
	} {
		if _, err := b.engine.LoadProvingKey(context.Background(), c.options); !errors.Is(err, c.want) {
			t.Errorf("key, %s: %v", name, err)
		}
	}
	csr := groth16.CircuitOptions{A: r.a, B: r.b, C: r.c, NumRows: r.rows, NumInputs: r.inputs, NumAux: r.aux}
	for name, change := range map[string]func(*groth16.CircuitOptions){
		"nothing":   func(o *groth16.CircuitOptions) { *o = groth16.CircuitOptions{} },
		"both":      func(o *groth16.CircuitOptions) { o.Path = b.r1cs },
		"rows":      func(o *groth16.CircuitOptions) { o.NumRows++ },
		"negative":  func(o *groth16.CircuitOptions) { o.NumAux = -1 },
		"aux":       func(o *groth16.CircuitOptions) { o.NumAux-- },
		"columns":   func(o *groth16.CircuitOptions) { o.A.Columns = o.A.Columns[1:] },
		"values":    func(o *groth16.CircuitOptions) { o.B.Values = o.B.Values[1:] },
		"no starts": func(o *groth16.CircuitOptions) { o.C.RowStarts = nil },
		"starts": func(o *groth16.CircuitOptions) {
			o.A.RowStarts = append([]uint64(nil), o.A.RowStarts...)
			o.A.RowStarts[7] = 1 << 63
		},
	} {
		options := csr
		change(&options)
		_, err := b.engine.LoadCircuit(options)
		if !errors.Is(err, groth16.ErrInvalid) && !errors.Is(err, groth16.ErrFormat) {
			t.Errorf("circuit, %s: %v", name, err)
		}
	}
	other := newEngine(t, groth16.EngineOptions{})
	if _, err := other.Prove(context.Background(), b.key, b.job()); !errors.Is(err, groth16.ErrInvalid) {
		t.Errorf("a key of another engine: %v", err)
	}
	if _, err := groth16.NewEngine(groth16.EngineOptions{CPUThreads: -1}); !errors.Is(err, groth16.ErrInvalid) {
		t.Error(err)
	}
	if _, err := groth16.NewEngine(groth16.EngineOptions{DeviceUUIDs: []string{"GPU-0", "GPU-1"}}); err == nil {
		t.Error("devices that are not there")
	}
}

func TestClosedHandles(t *testing.T) {
	noGoroutineLeft(t)
	b := newBench(t, smallFixture(t), groth16.EngineOptions{})
	ctx := context.Background()
	job := b.start(t, ctx)
	buffer, err := b.engine.NewBuffer(64)
	if err != nil {
		t.Fatal(err)
	}
	closed := func(name string, err error) {
		t.Helper()
		if !errors.Is(err, groth16.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ofJob := func(job *groth16.Job) {
		t.Helper()
		_, err := job.Poll()
		closed("poll", err)
		_, err = job.Proof()
		closed("proof", err)
		closed("wait", job.Wait(ctx))
		job.Cancel()
		job.Close()
	}
	job.Close()
	ofJob(job)
	for range job.Events() {
	}
	ofJob(nil)
	ofJob(&groth16.Job{})

	b.circuit.Close()
	b.circuit.Close()
	_, err = b.circuit.Info()
	closed("circuit info", err)
	_, err = b.engine.Start(ctx, b.key, b.job())
	closed("start with the circuit", err)
	_, err = b.engine.LoadProvingKey(ctx, groth16.KeyOptions{Path: b.params, Circuit: b.circuit})
	closed("load with the circuit", err)

	ofKey := func(key *groth16.ProvingKey) {
		t.Helper()
		key.Close()
		_, err := key.Info()
		closed("key info", err)
		_, err = key.VerifyingKey()
		closed("vk", err)
		_, err = key.Verify(b.inputs(), b.proof)
		closed("verify", err)
		options := b.job()
		options.Circuit = nil
		_, err = b.engine.Start(ctx, key, options)
		closed("start with the key", err)
	}
	ofKey(b.key)
	ofKey(nil)
	ofKey(&groth16.ProvingKey{})

	ofEngine := func(engine *groth16.Engine) {
		t.Helper()
		engine.Close()
		_, err := engine.Info()
		closed("engine info", err)
		_, err = engine.Metrics()
		closed("metrics", err)
		closed("trace", engine.WriteTrace("/nowhere/trace"))
		_, err = engine.LoadCircuit(groth16.CircuitOptions{Path: b.r1cs})
		closed("load circuit", err)
		_, err = engine.LoadProvingKey(ctx, groth16.KeyOptions{Path: b.params})
		closed("load key", err)
		_, err = engine.Start(ctx, b.key, b.job())
		closed("start", err)
		_, err = engine.Prove(ctx, b.key, b.job())
		closed("prove", err)
		_, err = engine.ProveAll(ctx, b.key, []groth16.JobOptions{b.job()})
		closed("prove all", err)
		_, err = engine.NewBuffer(1)
		closed("new buffer", err)
		if engine.MemoryPressure() != 0 {
			t.Error("memory pressure")
		}
	}
	ofEngine(b.engine)
	ofEngine(nil)
	ofEngine(&groth16.Engine{})
	if buffer.Close(); buffer.Bytes() != nil {
		t.Error("bytes of a closed buffer")
	}
	buffer.Close()
	(*groth16.Buffer)(nil).Close()
}

// What outlives its engine still works.
func TestEngineIsClosedFirst(t *testing.T) {
	b := newBench(t, smallFixture(t), groth16.EngineOptions{})
	job := b.start(t, context.Background())
	if err := job.Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	b.engine.Close()
	if proof, err := job.Proof(); err != nil || !bytes.Equal(proof, b.proof) {
		t.Errorf("another proof, or %v", err)
	}
	if valid, err := b.key.Verify(b.inputs(), b.proof); !valid || err != nil {
		t.Error(err)
	}
	if _, err := b.circuit.Info(); err != nil {
		t.Error(err)
	}
}

// Each error has its own call's message, whatever threads the goroutines ran on.
func TestMessagesAreOfTheirCall(t *testing.T) {
	engine := newEngine(t, groth16.EngineOptions{})
	var all sync.WaitGroup
	for g := range 32 {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := range 50 {
				path := fmt.Sprintf("/nowhere/%d-%d.r1cs", g, i)
				_, err := engine.LoadCircuit(groth16.CircuitOptions{Path: path})
				if !errors.Is(err, groth16.ErrIO) || !strings.Contains(err.Error(), path) {
					t.Errorf("for %s: %v", path, err)
				}
			}
		}()
	}
	all.Wait()
}

func TestStatusTexts(t *testing.T) {
	for s := groth16.ErrInternal; s <= groth16.ErrInvalid; s++ {
		if strings.HasPrefix(s.Error(), "status ") || !strings.HasPrefix(s.Name(), "GROTH16_E_") {
			t.Errorf("status %d: %v, %s", int32(s), s, s.Name())
		}
	}
	if groth16.Status(-99).Error() != "status -99" {
		t.Error(groth16.Status(-99))
	}
}

func TestParseWitness(t *testing.T) {
	data, err := os.ReadFile("testdata/small-0.wtns")
	if err != nil {
		t.Fatal(err)
	}
	if scalars, err := groth16.ParseWitness(data); err != nil || len(scalars) != 64*groth16.ScalarSize || scalars[0] != 1 {
		t.Errorf("%d bytes, %v", len(scalars), err)
	}
	for n := range len(data) {
		if _, err := groth16.ParseWitness(data[:n]); !errors.Is(err, groth16.ErrFormat) {
			t.Fatalf("cut off at %d: %v", n, err)
		}
	}
	for i := range 80 { // the heads
		damaged := bytes.Clone(data)
		damaged[i] ^= 0x80
		_, _ = groth16.ParseWitness(damaged)
	}
	if _, err := groth16.ReadWitness("/nowhere/w.wtns"); !errors.Is(err, groth16.ErrIO) || !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
