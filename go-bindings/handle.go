package groth16

import "sync"

// A handle guards a handle of the library against use after it was freed: uses are counted, close waits for those
// under way and refuses later ones. No lock is held during a call of the library, which may call back.
type handle[T any] struct {
	what string // for messages, such as "engine"
	free func(T)

	mu     sync.Mutex
	value  T
	users  int
	closed bool
	idle   chan struct{} // made where close has to wait, closed by the last user
	freed  chan struct{} // made by close, closed once the value is freed
}

func newHandle[T any](what string, value T, free func(T)) *handle[T] {
	return &handle[T]{what: what, value: value, free: free}
}

// use begins a use; a success must be followed by done. A handle that was never opened counts as closed.
func (h *handle[T]) use(op string) (T, error) {
	var none T
	if h == nil {
		return none, &Error{Op: op, Status: ErrClosed, Message: "never opened"}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return none, &Error{Op: op, Status: ErrClosed, Message: h.what}
	}
	h.users++
	return h.value, nil
}

func (h *handle[T]) done() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.users--
	if h.users == 0 && h.idle != nil {
		close(h.idle)
	}
}

// close frees the value once nobody uses it; whoever calls it, the value is freed when it returns.
func (h *handle[T]) close() {
	if h == nil {
		return
	}
	h.mu.Lock()
	if h.closed {
		freed := h.freed
		h.mu.Unlock()
		<-freed
		return
	}
	h.closed = true
	h.freed = make(chan struct{})
	var idle chan struct{}
	if h.users > 0 {
		idle = make(chan struct{})
		h.idle = idle
	}
	h.mu.Unlock()
	if idle != nil {
		<-idle
	}
	h.free(h.value)
	close(h.freed)
}

// closeLater is close as a cleanup: it does not hold up those of others.
func (h *handle[T]) closeLater() { go h.close() }
