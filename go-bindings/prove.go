package groth16

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Prove makes one proof. It waits for room in the queue and for the proof; when ctx ends it cancels the job. The
// scalars may be reused once it has returned.
func (e *Engine) Prove(ctx context.Context, key *ProvingKey, options JobOptions) ([]byte, error) {
	job, err := e.StartWhenRoom(ctx, key, options)
	if err != nil {
		return nil, err
	}
	defer job.Close()
	return job.Proof() // soon after ctx has ended, too
}

// ProveAll makes the proofs of all jobs, such as the partitions of one statement, and returns them in the same order.
// It keeps twice as many jobs in flight as the engine has slots, and waits where the queue has no room. The first error
// cancels the rest and is returned, with its job's index.
func (e *Engine) ProveAll(ctx context.Context, key *ProvingKey, jobs []JobOptions) ([][]byte, error) {
	info, err := e.Info()
	if err != nil {
		return nil, err
	}
	inFlight := min(len(jobs), 2*max(1, info.NumDevices)*max(1, info.JobsPerDevice))

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		proofs = make([][]byte, len(jobs))
		next   atomic.Int64
		failed sync.Once
		first  error
		all    sync.WaitGroup
	)
	for range inFlight {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := next.Add(1) - 1; i < int64(len(jobs)); i = next.Add(1) - 1 {
				proof, err := e.Prove(ctx, key, jobs[i])
				if err != nil {
					failed.Do(func() { first = fmt.Errorf("job %d: %w", i, err) })
					cancel()
					return
				}
				proofs[i] = proof
			}
		}()
	}
	all.Wait()
	if first != nil {
		return nil, first
	}
	return proofs, nil
}

// StartWhenRoom is Start that waits while the queue has no room, until ctx ends or the engine is closed.
func (e *Engine) StartWhenRoom(ctx context.Context, key *ProvingKey, options JobOptions) (*Job, error) {
	for {
		var room <-chan struct{}
		if e != nil && e.core != nil {
			room = e.core.roomMade() // before the try, so that no job's end is missed
		}
		job, err := e.Start(ctx, key, options)
		if !errors.Is(err, ErrQueueFull) {
			return job, err
		}
		// Memory may also become free by what is no job.
		timer := time.NewTimer(50 * time.Millisecond)
		select {
		case <-room:
		case <-timer.C:
		case <-ctx.Done():
			err = cancelled("start", "while the queue was full", ctx)
		case <-e.core.closing.Done():
			err = &Error{Op: "start", Status: ErrClosed, Message: "engine"}
		}
		timer.Stop()
		if !errors.Is(err, ErrQueueFull) {
			return nil, err
		}
	}
}
