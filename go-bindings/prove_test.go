package groth16_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	groth16 "github.com/libgroth16/libgroth16/go-bindings"
)

// The known proof, from every source of circuits, keys and rows.
func TestProveGivesTheKnownProof(t *testing.T) {
	noGoroutineLeft(t)
	b := newBench(t, smallFixture(t), groth16.EngineOptions{})
	r := readR1CS(t, b.r1cs)
	ctx := context.Background()

	csr, err := b.engine.LoadCircuit(groth16.CircuitOptions{
		A: r.a, B: r.b, C: r.c, NumRows: r.rows, NumInputs: r.inputs, NumAux: r.aux,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer csr.Close()
	r1csBytes, err := os.ReadFile(b.r1cs)
	if err != nil {
		t.Fatal(err)
	}
	fromBytes, err := b.engine.LoadCircuit(groth16.CircuitOptions{Data: r1csBytes})
	if err != nil {
		t.Fatal(err)
	}
	defer fromBytes.Close()
	params, err := os.ReadFile(b.params)
	if err != nil {
		t.Fatal(err)
	}
	withBits, err := b.engine.LoadProvingKey(ctx, groth16.KeyOptions{
		Data: params, AAux: r.aAux, BInputs: r.bInput, BAux: r.bAux, PointChecks: groth16.CheckOnCurve,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer withBits.Close()

	padding := make([]byte, b.numInputs*groth16.ScalarSize) // rows input_i * 0 = 0
	rows := b.job()
	rows.Circuit = nil
	rows.A = append(r.eval(&r.a, b.witness), b.inputs()...)
	rows.B = append(r.eval(&r.b, b.witness), padding...)
	rows.C = append(r.eval(&r.c, b.witness), padding...)
	withoutC := rows
	withoutC.C = nil
	job := func(circuit *groth16.Circuit) groth16.JobOptions {
		options := b.job()
		options.Circuit = circuit
		return options
	}
	for _, c := range []struct {
		name string
		key  *groth16.ProvingKey
		job  groth16.JobOptions
	}{
		{"file", b.key, b.job()},
		{"bytes", b.key, job(fromBytes)},
		{"matrices", b.key, job(csr)},
		{"densities", withBits, b.job()},
		{"rows", b.key, rows},
		{"rows without C", withBits, withoutC},
	} {
		proof, err := b.engine.Prove(ctx, c.key, c.job)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if !bytes.Equal(proof, b.proof) {
			t.Errorf("%s: another proof", c.name)
		}
	}
}

// Proofs of a real circuit equal those of another prover. GROTH16_FIXTURES is what `make fixtures` writes.
func TestProveEqualsAnotherProver(t *testing.T) {
	dir := os.Getenv("GROTH16_FIXTURES")
	if dir == "" {
		t.Skip("GROTH16_FIXTURES is not set")
	}
	b := newBench(t, readFixture(t, dir, "output", 6), groth16.EngineOptions{})
	proof, err := b.engine.Prove(context.Background(), b.key, b.job())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(proof, b.proof) {
		t.Error("another proof")
	}
}

func TestVerify(t *testing.T) {
	b := newBench(t, smallFixture(t), groth16.EngineOptions{})
	for _, format := range []groth16.ProofFormat{groth16.ProofCompressed, groth16.ProofUncompressed, groth16.ProofJSON} {
		options := b.job()
		options.R, options.S, options.ProofFormat = nil, nil, format
		proof, err := b.engine.Prove(context.Background(), b.key, options)
		if err != nil {
			t.Fatal(err)
		}
		switch format {
		case groth16.ProofCompressed:
			if len(proof) != 192 || bytes.Equal(proof, b.proof) {
				t.Errorf("%d bytes, or no randomness", len(proof))
			}
		case groth16.ProofUncompressed:
			if len(proof) != 384 {
				t.Errorf("%d bytes", len(proof))
			}
		case groth16.ProofJSON:
			if !json.Valid(proof) {
				t.Errorf("no JSON: %s", proof)
			}
		}
		if valid, err := b.key.Verify(b.inputs(), proof); !valid || err != nil {
			t.Errorf("format %d: %v %v", format, valid, err)
		}
		wrong := bytes.Clone(b.inputs())
		wrong[groth16.ScalarSize] ^= 1
		if valid, err := b.key.Verify(wrong, proof); valid || err != nil {
			t.Errorf("format %d with another input: %v %v", format, valid, err)
		}
	}
	for _, proof := range [][]byte{nil, {}, make([]byte, 1), make([]byte, 192), b.proof[:191]} {
		if valid, err := b.key.Verify(b.inputs(), proof); valid || err == nil {
			t.Errorf("a proof of %d bytes: %v %v", len(proof), valid, err)
		}
	}
	if _, err := b.key.Verify(b.inputs()[1:], b.proof); !errors.Is(err, groth16.ErrInvalid) {
		t.Error(err)
	}
}

func TestJobsTellWhereTheyAre(t *testing.T) {
	noGoroutineLeft(t)
	b := newBench(t, smallFixture(t), groth16.EngineOptions{})
	r := readR1CS(t, b.r1cs)
	padding := make([]byte, b.numInputs*groth16.ScalarSize)
	rows := b.job()
	rows.Circuit = nil
	rows.A = append(r.eval(&r.a, b.witness), b.inputs()...)
	rows.B = append(r.eval(&r.b, b.witness), padding...)
	rows.C = append(r.eval(&r.c, b.witness), padding...)
	job, err := b.engine.Start(context.Background(), b.key, rows)
	if err != nil {
		t.Fatal(err)
	}
	defer job.Close()
	var events []groth16.Event
	last := groth16.StateQueued
	for event := range job.Events() {
		events = append(events, event)
		progress, err := job.Poll()
		if err != nil {
			t.Fatal(err)
		}
		if progress.State < last {
			t.Errorf("from %v back to %v", last, progress.State)
		}
		last = progress.State
		if !progress.ABCReleased {
			t.Errorf("at %v the rows are not released", event)
		}
	}
	if len(events) != 2 || events[0] != groth16.EventABCReleased || events[1] != groth16.EventTerminal {
		t.Errorf("events: %v", events)
	}
	if err := job.Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	progress, err := job.Poll()
	if err != nil || progress.State != groth16.StateDone || progress.Device != -1 || progress.OnDevice <= 0 {
		t.Errorf("%+v %v", progress, err)
	}
	for range 2 {
		if proof, err := job.Proof(); err != nil || !bytes.Equal(proof, b.proof) {
			t.Errorf("another proof, or %v", err)
		}
	}
}

func TestProveAllKeepsTheOrder(t *testing.T) {
	noGoroutineLeft(t)
	// Room for fewer than are in flight, so that full queues are waited for.
	b := newBench(t, smallFixture(t), groth16.EngineOptions{MaxQueuedJobs: 1, JobsPerDevice: 1})
	jobs := make([]groth16.JobOptions, 12)
	want := make([][]byte, len(jobs))
	for i := range jobs {
		jobs[i] = b.job()
		jobs[i].R = make([]byte, groth16.ScalarSize)
		jobs[i].R[0] = byte(i)
		var err error
		if want[i], err = b.engine.Prove(context.Background(), b.key, jobs[i]); err != nil {
			t.Fatal(err)
		}
	}
	proofs, err := b.engine.ProveAll(context.Background(), b.key, jobs)
	if err != nil {
		t.Fatal(err)
	}
	for i := range jobs {
		if !bytes.Equal(proofs[i], want[i]) {
			t.Errorf("proof %d is another", i)
		}
	}
	if proofs, err := b.engine.ProveAll(context.Background(), b.key, nil); err != nil || len(proofs) != 0 {
		t.Errorf("of no jobs: %v %v", proofs, err)
	}
}

func TestProveAllStopsAtTheFirstError(t *testing.T) {
	noGoroutineLeft(t)
	b := newBench(t, smallFixture(t), groth16.EngineOptions{JobsPerDevice: 1})
	jobs := make([]groth16.JobOptions, 200)
	for i := range jobs {
		jobs[i] = b.job()
	}
	jobs[3].Aux = bytes.Clone(b.aux())
	jobs[3].Aux[0] ^= 1
	_, err := b.engine.ProveAll(context.Background(), b.key, jobs)
	if !errors.Is(err, groth16.ErrUnsatisfied) || !strings.HasPrefix(err.Error(), "job 3: ") {
		t.Error(err)
	}
	info, err := b.engine.Info()
	if err != nil || info.QueuedJobs+info.RunningJobs != 0 {
		t.Errorf("%+v %v", info, err)
	}
	if n := b.ended(t, "done"); n > 100 {
		t.Errorf("%d of 200 were proved", n)
	}
}

// Without the self-check a wrong proof is handed out.
func TestSelfCheckCanBeSkipped(t *testing.T) {
	b := newBench(t, smallFixture(t), groth16.EngineOptions{})
	options := b.job()
	rows := make([]byte, 64*groth16.ScalarSize)
	options.Circuit, options.A, options.B = nil, rows, rows
	if _, err := b.engine.Prove(context.Background(), b.key, options); !errors.Is(err, groth16.ErrSelfCheck) {
		t.Error(err)
	}
	options.SkipSelfCheck = true
	proof, err := b.engine.Prove(context.Background(), b.key, options)
	if err != nil {
		t.Fatal(err)
	}
	if valid, err := b.key.Verify(b.inputs(), proof); valid || err != nil {
		t.Errorf("%v %v", valid, err)
	}
}

func TestBuffersHoldScalars(t *testing.T) {
	b := newBench(t, smallFixture(t), groth16.EngineOptions{})
	buffer, err := b.engine.NewBuffer(len(b.witness))
	if err != nil {
		t.Fatal(err)
	}
	if len(buffer.Bytes()) != len(b.witness) || !bytes.Equal(buffer.Bytes(), make([]byte, len(b.witness))) {
		t.Error("not zeroed")
	}
	copy(buffer.Bytes(), b.witness)
	options := b.job()
	split := b.numInputs * groth16.ScalarSize
	options.Inputs, options.Aux = buffer.Bytes()[:split], buffer.Bytes()[split:]
	job, err := b.engine.Start(context.Background(), b.key, options)
	if err != nil {
		t.Fatal(err)
	}
	defer job.Close()
	buffer.Close() // the job keeps it alive
	if proof, err := job.Proof(); err != nil || !bytes.Equal(proof, b.proof) {
		t.Errorf("another proof, or %v", err)
	}
	if buffer.Bytes() != nil {
		t.Error("bytes after Close")
	}
	if _, err := b.engine.NewBuffer(-1); !errors.Is(err, groth16.ErrInvalid) {
		t.Error(err)
	}
	if _, err := b.engine.NewBuffer(1 << 60); !errors.Is(err, groth16.ErrNoMemory) {
		t.Error(err)
	}
}

func TestEnginesTellOfThemselves(t *testing.T) {
	b := newBench(t, smallFixture(t), groth16.EngineOptions{CPUThreads: 1, JobsPerDevice: 3})
	info, err := b.engine.Info()
	if err != nil || info.Backend != groth16.BackendCPU || info.CPUThreads != 1 || info.JobsPerDevice != 3 {
		t.Errorf("%+v %v", info, err)
	}
	circuit, err := b.circuit.Info()
	if err != nil || circuit != (groth16.CircuitInfo{NumRows: 56, NumInputs: 8, NumAux: 56, NumTerms: 227}) {
		t.Errorf("%+v %v", circuit, err)
	}
	key, err := b.key.Info()
	if err != nil || key.NumInputs != 8 || key.NumAux != 56 || key.DomainSize != 64 || key.NumRowsAdded != 8 ||
		key.Format != groth16.FormatBellman || key.UnconstrainedInputs {
		t.Errorf("%+v %v", key, err)
	}
	params, err := os.ReadFile(b.params)
	if err != nil {
		t.Fatal(err)
	}
	if vk, err := b.key.VerifyingKey(); err != nil || len(vk) < 100 || !bytes.HasPrefix(params, vk) {
		t.Errorf("a verifying key of %d bytes: %v", len(vk), err)
	}
	if _, err := b.engine.Prove(context.Background(), b.key, b.job()); err != nil {
		t.Fatal(err)
	}
	metrics, err := b.engine.Metrics()
	if err != nil || !strings.Contains(metrics, "# TYPE groth16_") || strings.Contains(metrics, "\x00") {
		t.Errorf("%v %s", err, metrics)
	}
	trace := filepath.Join(t.TempDir(), "trace.json")
	if err := b.engine.WriteTrace(trace); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(trace); err != nil || !json.Valid(data) {
		t.Errorf("no trace: %v", err)
	}
	if b.engine.MemoryPressure() != 0 {
		t.Error("pressure without a job")
	}
	if groth16.Version() == "" {
		t.Error("no version")
	}
	if _, err := groth16.Devices(); err != nil {
		t.Error(err)
	}
}

// What is lent to a job stays where it is, and what was dropped goes.
func TestTheCollectorTakesWhatWasDropped(t *testing.T) {
	noGoroutineLeft(t)
	b := newBench(t, smallFixture(t), groth16.EngineOptions{JobsPerDevice: 1})
	before, err := b.engine.Info()
	if err != nil {
		t.Fatal(err)
	}
	var jobs []*groth16.Job
	for range 8 { // most of them wait while what they lent would be overwritten
		options := b.job()
		options.Inputs, options.Aux = bytes.Clone(options.Inputs), bytes.Clone(options.Aux)
		job, err := b.engine.Start(context.Background(), b.key, options)
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, job)
	}
	for range 3 {
		runtime.GC()
		for range 100 {
			overwrite(len(b.inputs()))
			overwrite(len(b.aux()))
		}
	}
	for _, job := range jobs {
		if proof, err := job.Proof(); err != nil || !bytes.Equal(proof, b.proof) {
			t.Fatalf("another proof, or %v", err)
		}
	}
	jobs = nil
	for range 50 { // dropped while they wait
		if _, err := b.engine.Start(context.Background(), b.key, b.job()); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	eventually(t, "dropped jobs are cancelled", func() bool {
		runtime.GC()
		return b.ended(t, "cancelled") > 0
	})
	if _, err := b.engine.LoadProvingKey(context.Background(), groth16.KeyOptions{Path: b.params, Circuit: b.circuit}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "jobs and keys are freed", func() bool {
		runtime.GC()
		info, err := b.engine.Info()
		return err == nil && info.QueuedJobs+info.RunningJobs == 0 && info.HostBytesUsed <= before.HostBytesUsed
	})
}

var overwritten []byte

// overwrite fills a new slice, where one of the same size may have been freed.
func overwrite(n int) { overwritten = bytes.Repeat([]byte{0x55}, n) }

// A job that only its waiter knows is not collected under it.
func TestWaitKeepsItsJob(t *testing.T) {
	b := newBench(t, smallFixture(t), groth16.EngineOptions{})
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	for range 20 {
		job, err := b.engine.Start(context.Background(), b.key, b.job())
		if err != nil {
			t.Fatal(err)
		}
		if err := job.Wait(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDroppedEnginesEnd(t *testing.T) {
	noGoroutineLeft(t)
	func() {
		b := smallFixture(t)
		engine, err := groth16.NewEngine(groth16.EngineOptions{Backend: groth16.BackendCPU, Logger: discard()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := engine.LoadCircuit(groth16.CircuitOptions{Path: b.r1cs}); err != nil {
			t.Fatal(err)
		}
	}()
	for range 5 {
		runtime.GC()
		time.Sleep(5 * time.Millisecond)
	} // and the goroutine of its log ends, as the cleanup above sees
}
