package groth16

import (
	"unsafe"

	"github.com/libgroth16/libgroth16/go-bindings/internal/capi"
)

// A Buffer is page-locked memory outside of Go's heap. A GPU reads the rows A, B and C of a job straight from there, so that
// the CPU touches none of them; the event [EventABCReleased] then comes at the end of the job.
//
// Unlike everything else here, a Buffer is not closed by the garbage collector, which does not see the slices that
// point into it: one that is not closed takes its memory for as long as the process lives.
type Buffer struct {
	handle *handle[capi.Buffer]
	engine *Engine
	size   int
}

// NewBuffer allocates size bytes, zeroed. For an engine on GPUs they are page-locked, which takes some 0.2 s a GB: keep the
// buffer for many jobs.
func (e *Engine) NewBuffer(size int) (*Buffer, error) {
	const op = "new buffer"
	if size < 0 {
		return nil, invalid(op, "size is %d", size)
	}
	engine, err := e.use(op)
	if err != nil {
		return nil, err
	}
	defer e.done()
	allocated, failure := engine.BufferAlloc(size)
	if failure != nil {
		return nil, asError(op, failure)
	}
	return &Buffer{newHandle("buffer", allocated, capi.Buffer.Free), e, size}, nil
}

// Bytes returns the memory itself, or nil after Close. No slice of it may be used once Close was called. A job whose
// scalars lie wholly in one buffer keeps it alive.
func (b *Buffer) Bytes() []byte {
	if b == nil {
		return nil
	}
	buffer, err := b.handle.use("buffer")
	if err != nil {
		return nil
	}
	defer b.handle.done()
	return unsafe.Slice(buffer.Data(), b.size)
}

// Close releases the memory, whose bytes are gone at once; jobs that read it keep it alive. It always returns nil.
func (b *Buffer) Close() error {
	if b != nil {
		b.handle.close()
	}
	return nil
}
