package groth16

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Nobody uses a value that is freed; it is freed once; close returns after that.
func TestHandlesAreFreedAfterTheirUses(t *testing.T) {
	for range 200 {
		var freed atomic.Int32
		h := newHandle("thing", 7, func(int) { freed.Add(1) })
		var all sync.WaitGroup
		for g := range 8 {
			all.Add(1)
			go func() {
				defer all.Done()
				for range 20 {
					value, err := h.use("test")
					if errors.Is(err, ErrClosed) {
						return
					}
					if value != 7 || freed.Load() != 0 {
						t.Error("used after it was freed")
					}
					time.Sleep(time.Duration(g) * time.Microsecond)
					if freed.Load() != 0 {
						t.Error("freed under a use")
					}
					h.done()
				}
			}()
		}
		for range 2 {
			all.Add(1)
			go func() {
				defer all.Done()
				time.Sleep(50 * time.Microsecond)
				h.close()
				if freed.Load() != 1 {
					t.Errorf("freed %d times", freed.Load())
				}
			}()
		}
		all.Wait()
		if _, err := h.use("test"); !errors.Is(err, ErrClosed) {
			t.Fatal(err)
		}
	}
}
