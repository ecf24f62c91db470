package groth16

// A progressRelay carries how far a load is from a thread of the library, which must not wait, to a function, which
// may: one that is slow misses steps, but gets the last.
type progressRelay struct {
	steps chan [2]uint64 // holds the newest step that was not told yet
	ended chan struct{}
}

// newProgressRelay is nil for no function.
func newProgressRelay(tell func(done, total uint64)) *progressRelay {
	if tell == nil {
		return nil
	}
	r := &progressRelay{steps: make(chan [2]uint64, 1), ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		for step := range r.steps {
			tell(step[0], step[1])
		}
	}()
	return r
}

// tell never waits.
func (r *progressRelay) tell(done, total uint64) {
	if r == nil {
		return
	}
	select {
	case <-r.steps: // an older one that nobody took
	default:
	}
	select {
	case r.steps <- [2]uint64{done, total}:
	default:
	}
}

// end waits until the last step was told. tell must not be called any more.
func (r *progressRelay) end() {
	if r == nil {
		return
	}
	close(r.steps)
	<-r.ended
}
