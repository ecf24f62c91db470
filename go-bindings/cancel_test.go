package groth16_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	groth16 "github.com/libgroth16/libgroth16/go-bindings"
)

func TestContextsCancelJobs(t *testing.T) {
	noGoroutineLeft(t)
	b := newBench(t, smallFixture(t), groth16.EngineOptions{JobsPerDevice: 1})
	reason := errors.New("the client went away")
	ctx, cancel := context.WithCancelCause(context.Background())
	var jobs []*groth16.Job
	for range 20 {
		jobs = append(jobs, b.start(t, ctx))
	}
	cancel(reason)
	var stopped int
	for _, job := range jobs {
		within(t, 10*time.Second, "a cancelled job ends", func() { <-job.Done() })
		err := job.Wait(context.Background())
		if err == nil {
			continue
		}
		stopped++
		for _, want := range []error{groth16.ErrCancelled, context.Canceled, reason} {
			if !errors.Is(err, want) {
				t.Errorf("%v is not %v", err, want)
			}
		}
	}
	if stopped < 10 {
		t.Errorf("only %d of 20 were cancelled", stopped)
	}
	if _, err := b.engine.Start(ctx, b.key, b.job()); !errors.Is(err, context.Canceled) || !errors.Is(err, groth16.ErrCancelled) {
		t.Error(err)
	}
	ended, cancelEnded := context.WithTimeout(context.Background(), time.Nanosecond)
	defer cancelEnded()
	if _, err := b.engine.Prove(ended, b.key, b.job()); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// A foreignContext costs a goroutine for as long as it is watched.
type foreignContext struct {
	context.Context
	done chan struct{}
}

func (c foreignContext) Done() <-chan struct{} { return c.done }

func TestContextsAreLetGo(t *testing.T) {
	noGoroutineLeft(t)
	b := newBench(t, smallFixture(t), groth16.EngineOptions{})
	ctx := foreignContext{context.Background(), make(chan struct{})} // lives for ever
	for range 5 {
		if _, err := b.engine.Prove(ctx, b.key, b.job()); err != nil {
			t.Error(err)
		}
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	b := newBench(t, smallFixture(t), groth16.EngineOptions{JobsPerDevice: 1})
	job := b.start(t, context.Background())
	last := b.start(t, context.Background())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := last.Wait(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, groth16.ErrCancelled) {
		t.Error(err)
	}
	for _, job := range []*groth16.Job{job, last} { // which go on
		if err := job.Wait(context.Background()); err != nil {
			t.Error(err)
		}
		if err := job.Wait(ctx); err != nil { // a result that is there goes first
			t.Error(err)
		}
	}
}

func TestCancel(t *testing.T) {
	noGoroutineLeft(t)
	b := newBench(t, smallFixture(t), groth16.EngineOptions{JobsPerDevice: 1})
	var jobs []*groth16.Job
	for range 10 {
		jobs = append(jobs, b.start(t, context.Background()))
	}
	last := jobs[9]
	last.Cancel()
	if err := last.Wait(context.Background()); !errors.Is(err, groth16.ErrCancelled) || errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if progress, err := last.Poll(); err != nil || progress.State != groth16.StateCancelled {
		t.Errorf("%+v %v", progress, err)
	}
	for _, job := range jobs[:9] {
		if err := job.Wait(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

func TestQueueFull(t *testing.T) {
	noGoroutineLeft(t)
	b := newBench(t, smallFixture(t), groth16.EngineOptions{JobsPerDevice: 1, MaxQueuedJobs: 2})
	var jobs []*groth16.Job
	var full error
	for full == nil && len(jobs) < 1000 {
		job, err := b.engine.Start(context.Background(), b.key, b.job())
		if err != nil {
			full = err
			break
		}
		jobs = append(jobs, job)
	}
	if !errors.Is(full, groth16.ErrQueueFull) || len(jobs) < 2 {
		t.Errorf("after %d jobs: %v", len(jobs), full)
	}
	if _, err := b.engine.Prove(context.Background(), b.key, b.job()); err != nil { // waits for room
		t.Error(err)
	}
	for _, job := range jobs {
		if err := job.Wait(context.Background()); err != nil {
			t.Error(err)
		}
		job.Close()
	}
}

func TestEngineClosedWithJobs(t *testing.T) {
	noGoroutineLeft(t)
	for range 5 {
		b := newBench(t, smallFixture(t), groth16.EngineOptions{JobsPerDevice: 1, MaxQueuedJobs: 8})
		var jobs []*groth16.Job
		for range 8 {
			jobs = append(jobs, b.start(t, context.Background()))
		}
		waiting := make(chan error, 16)
		for range cap(waiting) { // some of them for room
			go func() {
				_, err := b.engine.Prove(context.Background(), b.key, b.job())
				waiting <- err
			}()
		}
		time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
		within(t, 20*time.Second, "the engine closes", func() { b.engine.Close() })
		for _, job := range jobs {
			select {
			case <-job.Done():
			default:
				t.Error("a job goes on without its engine")
			}
			if err := job.Wait(context.Background()); err != nil && !errors.Is(err, groth16.ErrShutdown) {
				t.Error(err)
			}
		}
		within(t, 20*time.Second, "all callers return", func() {
			for range cap(waiting) {
				if err := <-waiting; err != nil && !errors.Is(err, groth16.ErrShutdown) && !errors.Is(err, groth16.ErrClosed) {
					t.Error(err)
				}
			}
		})
	}
}

func TestLoadsTellTheirProgress(t *testing.T) {
	noGoroutineLeft(t)
	b := newBench(t, smallFixture(t), groth16.EngineOptions{})
	var last, total uint64
	options := groth16.KeyOptions{Path: b.params, Circuit: b.circuit, Progress: func(d, n uint64) { last, total = d, n }}
	key, err := b.engine.LoadProvingKey(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	key.Close()
	if info, err := os.Stat(b.params); err != nil || total != uint64(info.Size()) || last != total {
		t.Errorf("%d of %d", last, total)
	}

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := b.engine.LoadProvingKey(ctx, options); !errors.Is(err, context.Canceled) || !errors.Is(err, groth16.ErrCancelled) {
		t.Error(err)
	}
}

// Loads stop when their context ends, or their engine is closed, in the middle. The small key is read in one step, so
// that this needs the key of a real circuit.
func TestLoadsStop(t *testing.T) {
	noGoroutineLeft(t)
	dir := os.Getenv("GROTH16_FIXTURES")
	if dir == "" {
		t.Skip("GROTH16_FIXTURES is not set")
	}
	path := dir + "/spend.params"
	engine := newEngine(t, groth16.EngineOptions{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	begin := time.Now()
	_, err := engine.LoadProvingKey(ctx, groth16.KeyOptions{Path: path, Progress: func(done, total uint64) {
		if done < total {
			cancel()
		}
	}})
	if !errors.Is(err, groth16.ErrCancelled) || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	t.Logf("stopped after %v", time.Since(begin))
	_, err = engine.LoadProvingKey(context.Background(), groth16.KeyOptions{Path: path, Progress: func(done, total uint64) {
		if done < total {
			engine.Close()
		}
	}})
	if !errors.Is(err, groth16.ErrClosed) {
		t.Error(err)
	}
}

func TestLogs(t *testing.T) {
	noGoroutineLeft(t)
	var text strings.Builder // written by the engine's goroutine until Close has returned
	logger := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: groth16.LevelTrace}))
	b := newBench(t, smallFixture(t), groth16.EngineOptions{Logger: logger})
	if _, err := b.engine.Prove(context.Background(), b.key, b.job()); err != nil {
		t.Fatal(err)
	}
	b.engine.Close()
	if !strings.Contains(text.String(), "level=") {
		t.Errorf("no log: %q", text.String())
	}
}

// residentBytes is how much memory the process has, or 0 where the system does not tell.
func residentBytes() int {
	data, _ := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(data))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.Atoi(fields[1])
	return pages * os.Getpagesize()
}

// 32 goroutines prove, wait, poll, cancel, drop and close at random, 100 times, or GROTH16_SOAK times.
func TestStorm(t *testing.T) {
	noGoroutineLeft(t)
	count := 100
	if n, err := strconv.Atoi(os.Getenv("GROTH16_SOAK")); err == nil {
		count = max(n, 1000)
	}
	b := newBench(t, smallFixture(t), groth16.EngineOptions{MaxQueuedJobs: 16})
	storm(t, b, count/2) // pools, threads and heaps reach their size
	before, err := b.engine.Info()
	if err != nil {
		t.Fatal(err)
	}
	resident := residentBytes()
	storm(t, b, count/2)
	eventually(t, "jobs are freed", func() bool {
		info, err := b.engine.Info()
		return err == nil && info.QueuedJobs+info.RunningJobs == 0 && info.HostBytesUsed <= before.HostBytesUsed
	})
	// Of an inflated race detector or collector, too: a witness or a job that stays in memory each time is more.
	if grown := residentBytes() - resident; grown > 64<<20 {
		t.Errorf("memory grew by %d bytes", grown)
	}
}

// storm goes on until so many proofs were made.
func storm(t *testing.T, b *bench, count int) {
	var made, tries, cancels atomic.Int64
	var all sync.WaitGroup
	for g := range 32 {
		all.Add(1)
		go func() {
			defer all.Done()
			random := rand.New(rand.NewPCG(uint64(g), uint64(count)))
			for made.Load() < int64(count) && !t.Failed() {
				tries.Add(1)
				proof, err := stormStep(b, random)
				switch {
				case err == nil && bytes.Equal(proof, b.proof):
					made.Add(1)
				case err == nil:
					t.Error("another proof")
				case errors.Is(err, groth16.ErrCancelled), errors.Is(err, groth16.ErrClosed):
					cancels.Add(1)
				default:
					t.Error(err)
				}
			}
		}()
	}
	within(t, 10*time.Minute, "the storm ends", all.Wait)
	t.Logf("%d proofs, %d cancelled or closed, %d tries", made.Load(), cancels.Load(), tries.Load())
}

// stormStep makes one proof, or cancels it in one of several ways after a random time.
func stormStep(b *bench, random *rand.Rand) ([]byte, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	options := b.job()
	options.Aux = bytes.Clone(options.Aux)
	pause := time.Duration(random.IntN(40)) * time.Millisecond
	way := random.IntN(6)
	if way >= 4 {
		if way == 4 {
			timer := time.AfterFunc(pause, cancel)
			defer timer.Stop()
		}
		return b.engine.Prove(ctx, b.key, options)
	}
	job, err := b.engine.Start(ctx, b.key, options)
	for errors.Is(err, groth16.ErrQueueFull) {
		time.Sleep(time.Millisecond)
		job, err = b.engine.Start(ctx, b.key, options)
	}
	if err != nil {
		return nil, err
	}
	switch way {
	case 0:
		defer job.Close()
		time.AfterFunc(pause, job.Cancel)
	case 1:
		time.AfterFunc(pause, func() { job.Close() }) // under the wait below
	case 2:
		defer job.Close()
		time.Sleep(pause)
		if _, err := job.Poll(); err != nil {
			return nil, err
		}
		if random.IntN(2) == 0 {
			cancel()
		}
	case 3: // dropped in the end
		if err := job.Wait(ctx); err != nil {
			return nil, err
		}
	}
	return job.Proof()
}
