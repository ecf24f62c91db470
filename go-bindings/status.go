package groth16

import (
	"context"
	"fmt"
	"strings"

	"github.com/libgroth16/libgroth16/go-bindings/internal/capi"
)

// A Status is the kind of an [Error]. It is an error itself, for use with errors.Is.
type Status int32

const (
	ErrInvalid      Status = capi.Invalid      // an argument broke its documented contract
	ErrUnsupported  Status = capi.Unsupported  // well formed, but not in this library or on this machine
	ErrNoMemory     Status = capi.NoMemory     // host memory, or a host limit that you set
	ErrDeviceMemory Status = capi.DeviceMemory // device memory, after every smaller plan was tried
	ErrNoDevice     Status = capi.NoDevice     // no usable GPU where one was asked for
	ErrDevice       Status = capi.Device       // the GPU or its driver failed, and no retry was left
	ErrIO           Status = capi.IO           // the system refused to open or read a file
	ErrFormat       Status = capi.Format       // key, circuit, witness or proof bytes are malformed
	ErrUnsatisfied  Status = capi.Unsatisfied  // the witness does not satisfy the circuit
	ErrSelfCheck    Status = capi.SelfCheck    // the proof does not verify; it is withheld
	ErrQueueFull    Status = capi.QueueFull    // MaxQueuedJobs jobs are waiting, or memory is short for now
	ErrTimeout      Status = capi.Timeout      // the time that you gave ran out
	ErrTooSmall     Status = capi.TooSmall     // an output buffer; this package never lets you see it
	ErrCancelled    Status = capi.Cancelled    // you asked for the work to stop
	ErrShutdown     Status = capi.Shutdown     // the engine was closed before the job ran
	ErrForked       Status = capi.Forked       // a handle made before fork was used in the child
	ErrInternal     Status = capi.Internal     // a bug in the library; the process is still sound
	ErrClosed       Status = 1                 // used after Close; of this package alone
)

var statusTexts = map[Status]string{
	ErrInvalid:      "invalid argument",
	ErrUnsupported:  "unsupported",
	ErrNoMemory:     "out of host memory",
	ErrDeviceMemory: "out of device memory",
	ErrNoDevice:     "no usable device",
	ErrDevice:       "device failure",
	ErrIO:           "input or output failed",
	ErrFormat:       "malformed bytes",
	ErrUnsatisfied:  "witness does not satisfy the circuit",
	ErrSelfCheck:    "proof does not verify",
	ErrQueueFull:    "queue full",
	ErrTimeout:      "timed out",
	ErrTooSmall:     "buffer too small",
	ErrCancelled:    "cancelled",
	ErrShutdown:     "engine was closed",
	ErrForked:       "used after fork",
	ErrInternal:     "internal error",
	ErrClosed:       "used after Close",
}

// Error returns a short text such as "queue full".
func (s Status) Error() string {
	if text, ok := statusTexts[s]; ok {
		return text
	}
	return fmt.Sprintf("status %d", int32(s))
}

// Name returns the status's name in groth16.h, such as "GROTH16_E_QUEUE_FULL".
func (s Status) Name() string {
	if s == ErrClosed {
		return "closed"
	}
	return capi.StatusName(int32(s))
}

// An Error is a call or a job that failed.
type Error struct {
	// Op is what was tried, such as "load key".
	Op string
	// Status is its kind; errors.Is finds it.
	Status Status
	// Message names the place and tells what was wrong there. It may be empty.
	Message string
	// Cause is what ended a context, where that is why the work stopped; errors.Is finds it.
	Cause error
}

// Error returns the operation, the status and the message.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("groth16: ")
	if e.Op != "" {
		b.WriteString(e.Op + ": ")
	}
	b.WriteString(e.Status.Error())
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	if e.Cause != nil {
		b.WriteString(": " + e.Cause.Error())
	}
	return b.String()
}

// Unwrap returns the status and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause != nil {
		return []error{e.Status, e.Cause}
	}
	return []error{e.Status}
}

// asError is nil for a call that succeeded.
func asError(op string, failure *capi.Failure) error {
	if failure == nil {
		return nil
	}
	return &Error{Op: op, Status: Status(failure.Status), Message: failure.Message}
}

func invalid(op, format string, args ...any) error {
	return &Error{Op: op, Status: ErrInvalid, Message: fmt.Sprintf(format, args...)}
}

// cancelled is the error of work that stopped because ctx, which has ended, asked for it.
func cancelled(op, message string, ctx context.Context) error {
	return &Error{Op: op, Status: ErrCancelled, Message: message, Cause: contextError(ctx)}
}

// contextError is both why ctx, which has ended, did so, and its Err.
func contextError(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if cause == err {
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// checkText refuses what C would see cut off.
func checkText(op, name, text string) error {
	if i := strings.IndexByte(text, 0); i >= 0 {
		return invalid(op, "%s has a zero byte at %d", name, i)
	}
	return nil
}
