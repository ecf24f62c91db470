package groth16

import (
	"context"
	"math/bits"
	"runtime"
	"runtime/cgo"

	"github.com/libgroth16/libgroth16/go-bindings/internal/capi"
)

// Format is the form of a key file.
type Format int32

const (
	FormatAuto     Format = capi.FormatAuto
	FormatBellman  Format = capi.FormatBellman // parameters of bellman, Zcash and Filecoin
	FormatZkey     Format = capi.FormatZkey
	FormatGnark    Format = capi.FormatGnark
	FormatArkworks Format = capi.FormatArkworks
)

// String returns "auto", "bellman", "zkey", "gnark" or "arkworks".
func (f Format) String() string { return nameOf(f, "auto", "bellman", "zkey", "gnark", "arkworks") }

// PointChecks says what is checked of a key's points.
type PointChecks int32

const (
	CheckSubgroup PointChecks = capi.CheckSubgroup // on the curve and in the subgroup of prime order
	CheckOnCurve  PointChecks = capi.CheckOnCurve
	CheckNothing  PointChecks = capi.CheckNothing
)

// Bits is a set of indices below Len: bit i is Words[i/64] >> (i%64) & 1.
type Bits struct {
	Words []uint64
	Len   int
}

// NewBits returns n bits, all 0.
func NewBits(n int) Bits { return Bits{make([]uint64, (n+63)/64), n} }

// Set makes bit i 1. It panics if i is not below Len.
func (b *Bits) Set(i int) {
	if uint(i) >= uint(b.Len) {
		panic("groth16: index out of range of Bits")
	}
	b.Words[i/64] |= 1 << (i % 64)
}

// Count returns how many bits are 1.
func (b Bits) Count() int {
	n := 0
	for _, word := range b.Words {
		n += bits.OnesCount64(word)
	}
	return n
}

// KeyOptions say where a key comes from and what is checked of it.
type KeyOptions struct {
	// Path is a file. It stays open, so that the key may leave memory while no job needs it.
	Path string
	// Data is a file's bytes, which are copied.
	Data []byte
	// Circuit gives the densities that bellman's files lack.
	Circuit *Circuit
	// AAux, BInputs and BAux are the densities where there is no Circuit: which aux variables have a nonzero
	// coefficient in A, which inputs and which aux variables in B. Empty is all.
	AAux, BInputs, BAux Bits
	Format              Format
	// PointChecks less than the default are only for a file that you trust, or with its Digest.
	PointChecks PointChecks
	// Digest is the BLAKE2b-512 digest that the file must have; empty is any.
	Digest []byte
	// VerifyingKeyPath is a file with the verifying key that belongs to a FormatGnark key, in gnark's binary form,
	// compressed or raw. gnark's proving keys hold neither gamma nor IC: without it the key verifies nothing, and its
	// jobs must set SkipSelfCheck. Other formats have their own.
	VerifyingKeyPath string
	// VerifyingKey is such a file's bytes, which are copied.
	VerifyingKey []byte
	// Progress is told how much is done, in bytes, from a goroutine of its own: it may be slow, and then misses
	// steps. It is not called after LoadProvingKey has returned.
	Progress func(done, total uint64)
}

// KeyInfo tells what a key holds.
type KeyInfo struct {
	NumInputs  uint64 // the constant one included
	NumAux     uint64
	DomainSize uint64
	// NumRowsAdded counts the rows input_i * 0 = 0 that the key's form adds to those of the circuit.
	NumRowsAdded uint64
	HostBytes    uint64
	DeviceBytes  uint64
	Format       Format
	// UnconstrainedInputs is true if a public input has no influence: any value of it verifies.
	UnconstrainedInputs bool
}

// A ProvingKey is immutable and shared by any number of jobs.
type ProvingKey struct {
	handle *handle[capi.Key]
	engine *Engine
}

// LoadProvingKey loads a key on the engine's threads and checks it. It stops, with ErrCancelled, when ctx ends.
func (e *Engine) LoadProvingKey(ctx context.Context, options KeyOptions) (*ProvingKey, error) {
	const op = "load key"
	if err := options.check(op); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, cancelled(op, "", ctx)
	}
	o := capi.KeyOptions{
		Path:        options.Path,
		Data:        options.Data,
		AAux:        capi.Bits{Words: options.AAux.Words, Count: options.AAux.Len},
		BInputs:     capi.Bits{Words: options.BInputs.Words, Count: options.BInputs.Len},
		BAux:        capi.Bits{Words: options.BAux.Words, Count: options.BAux.Len},
		Format:      int32(options.Format),
		PointChecks: int32(options.PointChecks),
		BLAKE2b:     options.Digest,
		VKPath:      options.VerifyingKeyPath,
		VKData:      options.VerifyingKey,
	}
	relay := newProgressRelay(options.Progress)
	defer relay.end() // comes after the uses below have ended: whoever is told of progress may close things
	if options.Circuit != nil {
		circuit, err := options.Circuit.use(op)
		if err != nil {
			return nil, err
		}
		defer options.Circuit.handle.done()
		o.Circuit = circuit
	}
	engine, err := e.use(op)
	if err != nil {
		return nil, err
	}
	defer e.done()
	closing := e.core.closing
	o.Progress = cgo.NewHandle(capi.ProgressFunc(func(done, total uint64) bool {
		relay.tell(done, total)
		return ctx.Err() != nil || closing.Err() != nil
	}))
	defer o.Progress.Delete()
	loaded, failure := engine.KeyLoad(&o)
	if failure != nil {
		switch {
		case failure.Status != capi.Cancelled:
			return nil, asError(op, failure)
		case ctx.Err() != nil:
			return nil, cancelled(op, failure.Message, ctx)
		default:
			return nil, &Error{Op: op, Status: ErrClosed, Message: "engine"}
		}
	}
	key := &ProvingKey{newHandle("key", loaded, capi.Key.Free), e}
	runtime.AddCleanup(key, (*handle[capi.Key]).closeLater, key.handle)
	return key, nil
}

func (o *KeyOptions) check(op string) error {
	if err := checkText(op, "the path", o.Path); err != nil {
		return err
	}
	if o.Path == "" && len(o.Data) == 0 {
		return invalid(op, "neither a path nor data is set")
	}
	if err := checkText(op, "the verifying key's path", o.VerifyingKeyPath); err != nil {
		return err
	}
	if n := len(o.Digest); n != 0 && n != 64 {
		return invalid(op, "the digest has %d bytes, wanted 64", n)
	}
	for _, b := range []struct {
		name string
		bits *Bits
	}{{"AAux", &o.AAux}, {"BInputs", &o.BInputs}, {"BAux", &o.BAux}} {
		if b.bits.Len < 0 || len(b.bits.Words) < (b.bits.Len+63)/64 {
			return invalid(op, "%s: %d words cannot hold %d bits", b.name, len(b.bits.Words), b.bits.Len)
		}
	}
	return nil
}

// Close releases the key; jobs that need it keep it alive. It always returns nil.
func (k *ProvingKey) Close() error {
	if k != nil {
		k.handle.close()
	}
	return nil
}

// Info tells what the key holds.
func (k *ProvingKey) Info() (KeyInfo, error) {
	const op = "key info"
	key, err := k.use(op)
	if err != nil {
		return KeyInfo{}, err
	}
	defer k.handle.done()
	info, failure := key.Info()
	return KeyInfo{
		NumInputs:           info.NumInputs,
		NumAux:              info.NumAux,
		DomainSize:          info.DomainSize,
		NumRowsAdded:        info.NumRowsAdded,
		HostBytes:           info.HostBytes,
		DeviceBytes:         info.DeviceBytes,
		Format:              Format(info.Format),
		UnconstrainedInputs: info.UnconstrainedInputs != 0,
	}, asError(op, failure)
}

// VerifyingKey returns the verifying key in bellman's encoding.
func (k *ProvingKey) VerifyingKey() ([]byte, error) {
	const op = "verifying key"
	key, err := k.use(op)
	if err != nil {
		return nil, err
	}
	defer k.handle.done()
	bytes, failure := key.VerifyingKey()
	return bytes, asError(op, failure)
}

// Verify tells whether a proof, in any ProofFormat, holds for canonical inputs, of which the first is one. Bytes that
// are no proof are ErrFormat.
func (k *ProvingKey) Verify(inputs, proof []byte) (bool, error) {
	const op = "verify"
	if err := checkScalars(op, "inputs", inputs); err != nil {
		return false, err
	}
	key, err := k.use(op)
	if err != nil {
		return false, err
	}
	defer k.handle.done()
	valid, failure := key.Verify(inputs, proof)
	return valid, asError(op, failure)
}

func (k *ProvingKey) use(op string) (capi.Key, error) {
	if k == nil {
		return (*handle[capi.Key])(nil).use(op)
	}
	return k.handle.use(op)
}
