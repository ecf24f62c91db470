package groth16

import (
	"bytes"
	"context"
	"runtime"
	"sync"
	"weak"

	bls "github.com/consensys/gnark/backend/groth16/bls12-381"

	lib "github.com/libgroth16/libgroth16/go-bindings"
)

// A keyCache holds what was loaded of gnark's proving keys that live. It must not reach them.
type keyCache struct {
	mu      sync.Mutex
	entries map[weak.Pointer[bls.ProvingKey]]*cacheEntry
	closed  bool
}

// A cacheEntry is one variable of gnark's, through the keys that are read into it.
type cacheEntry struct {
	turn chan struct{} // has one element, which who loads or looks takes
	// The rest belongs to who has it, and current to the cache's mu, too.
	current *cachedKey
	mark    fingerprint
	vk      []byte
}

// A cachedKey is closed when it is retired and nobody uses it any more.
type cachedKey struct {
	key     *Key
	users   int  // of the cache's mu
	retired bool // of the cache's mu
}

func newKeyCache() *keyCache {
	return &keyCache{entries: map[weak.Pointer[bls.ProvingKey]]*cacheEntry{}}
}

func errClosed() error { return &lib.Error{Op: "prove", Status: lib.ErrClosed, Message: "prover"} }

// entry is that of pk, made where there is none.
func (c *keyCache) entry(pk *bls.ProvingKey) (*cacheEntry, error) {
	pointer := weak.Make(pk)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errClosed()
	}
	e := c.entries[pointer]
	if e == nil {
		e = &cacheEntry{turn: make(chan struct{}, 1)}
		e.turn <- struct{}{}
		c.entries[pointer] = e
		// A prover that was dropped is not kept by the keys that it has seen.
		cache := weak.Make(c)
		runtime.AddCleanup(pk, func(pointer weak.Pointer[bls.ProvingKey]) {
			if c := cache.Value(); c != nil {
				c.drop(pointer)
			}
		}, pointer)
	}
	return e, nil
}

// acquire is the loaded form of pk, which one goroutine loads while others wait; release must follow. ctx bounds both.
func (c *keyCache) acquire(ctx context.Context, p *Prover, pk *bls.ProvingKey) (*cachedKey, error) {
	// Else the entry could be dropped, and its key closed, before it is in use.
	defer runtime.KeepAlive(pk)
	e, err := c.entry(pk)
	if err != nil {
		return nil, err
	}
	select {
	case <-e.turn:
	case <-ctx.Done():
		return nil, &lib.Error{Op: "prove", Status: lib.ErrCancelled, Cause: ctx.Err()}
	}
	defer func() { e.turn <- struct{}{} }()

	mark := fingerprintOf(pk)
	vk := boundTo(pk, &mark)
	if loaded := c.use(e, &mark, vk); loaded != nil {
		return loaded, nil
	}
	key, err := p.load(ctx, pk, vk)
	if err != nil {
		return nil, err
	}
	loaded := &cachedKey{key: key, users: 1}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		key.Close()
		return nil, errClosed()
	}
	previous := e.current
	e.current, e.mark, e.vk = loaded, mark, vk
	unused := previous.retire()
	c.mu.Unlock()
	if unused {
		previous.key.Close()
	}
	return loaded, nil
}

// use begins a use of the entry's key if that is the one wanted.
func (c *keyCache) use(e *cacheEntry, mark *fingerprint, vk []byte) *cachedKey {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.current == nil || e.current.retired || e.mark != *mark || !bytes.Equal(e.vk, vk) {
		return nil
	}
	e.current.users++
	return e.current
}

// release ends a use.
func (c *keyCache) release(loaded *cachedKey) {
	c.mu.Lock()
	loaded.users--
	unused := loaded.retired && loaded.users == 0
	c.mu.Unlock()
	if unused {
		loaded.key.Close()
	}
}

// retire tells whether the caller must close the key, after it has left mu.
func (k *cachedKey) retire() bool {
	if k == nil || k.retired {
		return false
	}
	k.retired = true
	return k.users == 0
}

// drop forgets a key that was collected. It runs as a cleanup and must not hold up others.
func (c *keyCache) drop(pointer weak.Pointer[bls.ProvingKey]) {
	c.mu.Lock()
	e := c.entries[pointer]
	delete(c.entries, pointer)
	unused := e != nil && e.current.retire()
	c.mu.Unlock()
	if unused {
		go e.current.key.Close()
	}
}

// close forgets all keys; those in use are closed by the last user.
func (c *keyCache) close() {
	var unused []*Key
	c.mu.Lock()
	c.closed = true
	for _, e := range c.entries {
		if e.current.retire() {
			unused = append(unused, e.current.key)
		}
	}
	clear(c.entries)
	c.mu.Unlock()
	for _, key := range unused {
		key.Close()
	}
}
