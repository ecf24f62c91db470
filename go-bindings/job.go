package groth16

import (
	"context"
	"runtime"
	"runtime/cgo"
	"sync"
	"time"

	"github.com/libgroth16/libgroth16/go-bindings/internal/capi"
)

// ScalarSize is the number of bytes of a scalar.
const ScalarSize = capi.ScalarSize

// ScalarForm says how a job's scalars are encoded.
type ScalarForm int32

const (
	// ScalarsCanonical are the values themselves, below the group order.
	ScalarsCanonical ScalarForm = capi.ScalarsCanonical
	// ScalarsMontgomery are the values times 2^256 modulo the group order, as blst_fr.
	ScalarsMontgomery ScalarForm = capi.ScalarsMontgomery
)

// ProofFormat says how a proof is written.
type ProofFormat int32

const (
	ProofCompressed   ProofFormat = capi.ProofCompressed   // A, B, C: 192 bytes, as Zcash and Filecoin use them
	ProofUncompressed ProofFormat = capi.ProofUncompressed // A, B, C: 384 bytes
	ProofJSON         ProofFormat = capi.ProofJSON         // snarkjs's JSON
)

// JobOptions say what a job proves and how. The scalars are borrowed: see the package's documentation.
type JobOptions struct {
	// Circuit, if set, evaluates the rows from the witness; then A, B and C stay empty.
	Circuit *Circuit
	// A, B and C are the evaluations of all rows of the key where there is no Circuit, those that the key's form adds
	// included. C may stay empty: then a wrong witness is found by the self-check only.
	A, B, C []byte
	// Inputs are the public inputs, of which the first is one.
	Inputs []byte
	// Aux is the rest of the witness.
	Aux []byte
	// R and S are the proof's randomness, one canonical scalar each, copied. Empty takes the system's random numbers,
	// as every proof must that others see; fixed values are for tests.
	R, S       []byte
	ScalarForm ScalarForm
	// Priority: higher goes first; among equals, first in first out.
	Priority    int32
	ProofFormat ProofFormat
	// SkipSelfCheck hands the proof out without having verified it.
	SkipSelfCheck bool
}

// State says where a job is. It only grows.
type State int32

const (
	StateQueued    State = capi.StateQueued
	StatePreparing State = capi.StatePreparing // evaluating or splitting scalars, or waiting for the device
	StateOnDevice  State = capi.StateOnDevice
	StateFinishing State = capi.StateFinishing // only G2 MSM and epilogue are left; the device serves other jobs
	StateDone      State = capi.StateDone
	StateFailed    State = capi.StateFailed
	StateCancelled State = capi.StateCancelled
)

// Terminal tells whether nothing comes after it.
func (s State) Terminal() bool { return s >= StateDone }

// String returns a word such as "queued".
func (s State) String() string {
	if s.Terminal() {
		return nameOf(s-StateDone, "done", "failed", "cancelled")
	}
	return nameOf(s, "queued", "preparing", "on device", "finishing")
}

// Event is what a job tells.
type Event int32

const (
	EventABCReleased Event = capi.EventABCReleased // A, B and C, if given, may be reused; in a Buffer that a GPU reads, at the end
	EventTerminal    Event = capi.EventTerminal    // every input may be reused; the state is final
)

// String returns "abc released" or "terminal".
func (e Event) String() string { return nameOf(e, "unknown", "abc released", "terminal") }

// Progress tells where a job is. The time of a phase that has not ended counts up to now.
type Progress struct {
	State State
	// Device is an index, or -1 for the CPU or before one was chosen.
	Device      int
	ABCReleased bool
	Retries     int
	Queued      time.Duration
	Prepare     time.Duration
	OnDevice    time.Duration
	Finish      time.Duration
}

// A Job is one proof, from Start to Close.
type Job struct {
	state *jobState
	// engine stays reachable, and so open, for as long as the job is.
	engine *Engine
}

// The jobState is reached by the library's callback too, until the job is terminal. It must not reach the Job, which
// is then closed, and so cancelled, if it is dropped.
type jobState struct {
	handle *handle[capi.Job]
	core   *engineCore
	ctx    context.Context
	user   cgo.Handle
	events chan Event    // has room for all
	ended  chan struct{} // closed at the terminal event

	// Inputs are pinned from before the start until the library has told that it is done with them.
	rows, witness runtime.Pinner

	mu        sync.Mutex
	terminal  bool
	stopWatch func() bool // ends the watch of ctx
}

// Start queues a job and returns at once. If the queue has no room it fails with ErrQueueFull. The job is cancelled
// when ctx ends. Keep the Job until you are done with it: one that is dropped is cancelled.
func (e *Engine) Start(ctx context.Context, key *ProvingKey, options JobOptions) (*Job, error) {
	const op = "start"
	if err := options.check(op); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, cancelled(op, "", ctx)
	}
	o := capi.JobOptions{
		A: options.A, B: options.B, C: options.C,
		Inputs: options.Inputs, Aux: options.Aux,
		R: options.R, S: options.S,
		ScalarForm:    int32(options.ScalarForm),
		Priority:      options.Priority,
		ProofFormat:   int32(options.ProofFormat),
		SkipSelfCheck: options.SkipSelfCheck,
	}
	engine, err := e.use(op)
	if err != nil {
		return nil, err
	}
	defer e.done()
	usedKey, err := key.use(op)
	if err != nil {
		return nil, err
	}
	defer key.handle.done()
	if options.Circuit != nil {
		if o.Circuit, err = options.Circuit.use(op); err != nil {
			return nil, err
		}
		defer options.Circuit.handle.done()
	}

	s := &jobState{
		core:   e.core,
		ctx:    ctx,
		events: make(chan Event, 2),
		ended:  make(chan struct{}),
	}
	s.pin(&options)
	s.user = cgo.NewHandle(capi.EventFunc(s.take))
	o.Event = s.user
	started, failure := engine.Start(usedKey, &o)
	if failure != nil { // and no event comes
		s.user.Delete()
		s.rows.Unpin()
		s.witness.Unpin()
		return nil, asError(op, failure)
	}
	s.handle = newHandle("job", started, func(job capi.Job) {
		job.Free()
		s.core.makeRoom()
	})
	s.watch()
	job := &Job{s, e}
	runtime.AddCleanup(job, (*handle[capi.Job]).closeLater, s.handle)
	return job, nil
}

func (o *JobOptions) check(op string) error {
	for _, s := range []struct {
		name    string
		scalars []byte
	}{{"A", o.A}, {"B", o.B}, {"C", o.C}, {"Inputs", o.Inputs}, {"Aux", o.Aux}} {
		if err := checkScalars(op, s.name, s.scalars); err != nil {
			return err
		}
	}
	if n := len(o.R); n != 0 && n != ScalarSize {
		return invalid(op, "R has %d bytes, wanted %d", n, ScalarSize)
	}
	if n := len(o.S); n != 0 && n != ScalarSize {
		return invalid(op, "S has %d bytes, wanted %d", n, ScalarSize)
	}
	return nil
}

func checkScalars(op, name string, scalars []byte) error {
	if len(scalars)%ScalarSize != 0 {
		return invalid(op, "%s has %d bytes, which is no multiple of %d", name, len(scalars), ScalarSize)
	}
	return nil
}

func (s *jobState) pin(o *JobOptions) {
	pin := func(pinner *runtime.Pinner, scalars []byte) {
		if len(scalars) > 0 {
			pinner.Pin(&scalars[0])
		}
	}
	pin(&s.rows, o.A)
	pin(&s.rows, o.B)
	pin(&s.rows, o.C)
	pin(&s.witness, o.Inputs)
	pin(&s.witness, o.Aux)
}

// watch has the job cancelled when its context ends, unless it is terminal before.
func (s *jobState) watch() {
	stop := context.AfterFunc(s.ctx, s.cancel)
	s.mu.Lock()
	terminal := s.terminal
	s.stopWatch = stop
	s.mu.Unlock()
	if terminal {
		stop()
	}
}

func (s *jobState) cancel() {
	if job, err := s.handle.use("cancel"); err == nil {
		job.Cancel()
		s.handle.done()
	}
}

// take is called by the library, perhaps before its start has returned. It must not wait.
func (s *jobState) take(event int32) {
	switch Event(event) {
	case EventABCReleased:
		s.rows.Unpin()
		s.events <- EventABCReleased
	case EventTerminal:
		s.rows.Unpin()
		s.witness.Unpin()
		s.user.Delete()
		s.mu.Lock()
		s.terminal = true
		stop := s.stopWatch
		s.mu.Unlock()
		if stop != nil {
			stop()
		}
		s.events <- EventTerminal
		close(s.events)
		close(s.ended)
		s.core.makeRoom()
	}
}

// Poll tells where the job is. It never waits.
func (j *Job) Poll() (Progress, error) {
	const op = "poll"
	job, err := j.use(op)
	if err != nil {
		return Progress{}, err
	}
	defer j.state.handle.done()
	p, failure := job.Poll()
	return Progress{
		State:       State(p.State),
		Device:      int(p.Device),
		ABCReleased: p.ABCReleased,
		Retries:     int(p.Retries),
		Queued:      time.Duration(p.QueuedNs),
		Prepare:     time.Duration(p.PrepareNs),
		OnDevice:    time.Duration(p.DeviceNs),
		Finish:      time.Duration(p.FinishNs),
	}, asError(op, failure)
}

// Wait waits until the job is terminal, and returns nil for one that has a proof, else why it has none. If ctx ends
// before, it returns ctx's error, and the job goes on.
func (j *Job) Wait(ctx context.Context) error {
	if j == nil || j.state == nil {
		_, err := j.use("wait")
		return err
	}
	// Without this the job could be collected, and cancelled, while it is waited for.
	defer runtime.KeepAlive(j)
	select {
	case <-j.state.ended:
	default:
		select {
		case <-j.state.ended:
		case <-ctx.Done():
			return contextError(ctx)
		}
	}
	_, err := j.result()
	return err
}

// Proof waits until the job is terminal and returns its proof, or why it has none. It may be called again.
func (j *Job) Proof() ([]byte, error) {
	if j == nil || j.state == nil {
		_, err := j.use("proof")
		return nil, err
	}
	defer runtime.KeepAlive(j)
	<-j.state.ended
	return j.result()
}

// result is the proof of a terminal job.
func (j *Job) result() ([]byte, error) {
	const op = "prove"
	job, err := j.use(op)
	if err != nil {
		return nil, err
	}
	defer j.state.handle.done()
	proof, failure := job.Finalize()
	if failure != nil && failure.Status == capi.Cancelled && j.state.ctx.Err() != nil {
		return nil, cancelled(op, failure.Message, j.state.ctx)
	}
	return proof, asError(op, failure)
}

// Cancel asks for the job to stop: it becomes terminal soon, perhaps still with a proof.
func (j *Job) Cancel() {
	if j != nil && j.state != nil {
		j.state.cancel()
	}
}

// Events returns the channel of the job's events: EventABCReleased at most once, then EventTerminal, after which it is
// closed. The library does not wait for who receives. Every call returns the same channel.
func (j *Job) Events() <-chan Event {
	if j == nil || j.state == nil {
		return nil
	}
	return j.state.events
}

// Done returns a channel that is closed when the job is terminal.
func (j *Job) Done() <-chan struct{} {
	if j == nil || j.state == nil {
		return nil
	}
	return j.state.ended
}

// Close releases the job in any state: it cancels it if need be, and returns when the library is done with its
// scalars. It always returns nil.
func (j *Job) Close() error {
	if j != nil && j.state != nil {
		j.state.handle.close()
	}
	return nil
}

func (j *Job) use(op string) (capi.Job, error) {
	if j == nil || j.state == nil {
		return (*handle[capi.Job])(nil).use(op)
	}
	return j.state.handle.use(op)
}
