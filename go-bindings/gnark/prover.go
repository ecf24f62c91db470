package groth16

import (
	"bufio"
	"context"
	"fmt"
	"os"

	"github.com/consensys/gnark/backend"
	bls "github.com/consensys/gnark/backend/groth16/bls12-381"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/logger"

	lib "github.com/libgroth16/libgroth16/go-bindings"
)

// ProverOptions say how a [Prover] is built. Zero in any field is its default.
type ProverOptions struct {
	// Engine makes the proofs, and stays the caller's. By default the prover starts one, as EngineOptions say, and
	// closes it with itself.
	Engine        *lib.Engine
	EngineOptions lib.EngineOptions
	// PointChecks is what is checked of the points of keys, which takes longer than reading them does. Less than the
	// default is for keys that this process made by Setup, or read by gnark's ReadFrom, which checks them, too.
	PointChecks lib.PointChecks
	// TempDir is where gnark's proving keys go through a file, which has no name and takes the raw key's size for as long
	// as the key is loaded: from there it is read again when it had to leave memory. It should be on a disk; os.TempDir()
	// by default.
	TempDir string
	// RequireVerifyingKey refuses keys without a verifying key, so that every proof is verified before it is given out.
	RequireVerifyingKey bool
}

// A Prover owns an engine, or borrows one, and the keys that its Prove has loaded. It may be used from many goroutines.
type Prover struct {
	engine  *lib.Engine
	owned   bool
	options ProverOptions
	cache   *keyCache
}

// NewProver starts a prover.
func NewProver(options ProverOptions) (*Prover, error) {
	p := &Prover{engine: options.Engine, options: options, cache: newKeyCache()}
	if p.engine == nil {
		engine, err := lib.NewEngine(options.EngineOptions)
		if err != nil {
			return nil, err
		}
		p.engine, p.owned = engine, true
	}
	return p, nil
}

// Engine returns the engine, for its metrics, its trace and for other jobs.
func (p *Prover) Engine() *lib.Engine {
	if p == nil {
		return nil
	}
	return p.engine
}

// Close lets go of the keys that Prove has loaded and, if it is the prover's own, closes the engine, which fails what
// was started and not finished. Keys of LoadKey stay open, but prove no more. It always returns nil.
func (p *Prover) Close() error {
	if p == nil || p.cache == nil {
		return nil
	}
	p.cache.close()
	if p.owned {
		p.engine.Close()
	}
	return nil
}

// Prove is [Key.Prove] with pk, which is loaded when the prover first sees it, with the verifying key that it is bound
// to, and let go when it is collected. See [BindVerifyingKey].
func (p *Prover) Prove(ctx context.Context, r1cs constraint.ConstraintSystem, pk ProvingKey,
	fullWitness witness.Witness, opts ...backend.ProverOption,
) (Proof, error) {
	const op = "prove"
	if p == nil || p.cache == nil {
		return nil, invalid(op, "prover was not made by NewProver")
	}
	if ctx == nil {
		return nil, invalid(op, "nil context")
	}
	// Loading a key takes long: what can be refused is refused before.
	if _, err := asR1CS(op, r1cs); err != nil {
		return nil, err
	}
	if fullWitness == nil {
		return nil, invalid(op, "nil witness")
	}
	key, err := asProvingKey(op, pk)
	if err != nil {
		return nil, err
	}
	loaded, err := p.cache.acquire(ctx, p, key)
	if err != nil {
		return nil, err
	}
	defer p.cache.release(loaded)
	return loaded.key.Prove(ctx, r1cs, fullWitness, opts...)
}

// LoadKey loads a proving key of gnark's, with its verifying key. vk may be nil: then proofs are given out without
// having been verified. The key is a copy: pk may be dropped. It stops, with ErrCancelled, when ctx ends.
func (p *Prover) LoadKey(ctx context.Context, pk ProvingKey, vk VerifyingKey) (*Key, error) {
	const op = "load key"
	key, err := asProvingKey(op, pk)
	if err != nil {
		return nil, err
	}
	var encoded []byte
	if !isNil(vk) {
		if encoded, err = encodeVerifyingKey(op, key, vk); err != nil {
			return nil, err
		}
	}
	return p.load(ctx, key, encoded)
}

// LoadKeyFile loads a proving key that gnark's WriteTo or WriteRawTo wrote to a file, and its verifying key from
// another, without gnark's copy of it in memory. vkPath may be empty: then proofs are given out without having been
// verified. The key's file stays open, so that the key may leave memory while no job needs it.
func (p *Prover) LoadKeyFile(ctx context.Context, pkPath, vkPath string) (*Key, error) {
	return p.loadFrom(ctx, lib.KeyOptions{Path: pkPath, VerifyingKeyPath: vkPath})
}

// load streams the key, in raw form, through a file. Through memory it would take the key's size once more in Go's
// heap and once more for the library's copy of that, which it has to keep: a key with a file may leave memory.
func (p *Prover) load(ctx context.Context, pk *bls.ProvingKey, vk []byte) (*Key, error) {
	const op = "load key"
	if p == nil {
		return nil, invalid(op, "prover was not made by NewProver")
	}
	file, err := os.CreateTemp(p.options.TempDir, "groth16-*.pk")
	if err != nil {
		return nil, &lib.Error{Op: op, Status: lib.ErrIO, Cause: err}
	}
	defer file.Close() // the library has its own descriptor
	path := file.Name()
	// A file without a name is gone with the last descriptor, however the process ends.
	if open := fmt.Sprintf("/proc/self/fd/%d", file.Fd()); isSame(file, open) {
		if err := os.Remove(path); err != nil {
			return nil, &lib.Error{Op: op, Status: lib.ErrIO, Cause: err}
		}
		path = open
	} else {
		defer os.Remove(path)
	}
	writer := bufio.NewWriterSize(file, 1<<20)
	if _, err := pk.WriteRawTo(writer); err != nil {
		return nil, &lib.Error{Op: op, Status: lib.ErrIO, Message: "while writing the key", Cause: err}
	}
	if err := writer.Flush(); err != nil {
		return nil, &lib.Error{Op: op, Status: lib.ErrIO, Message: "while writing the key", Cause: err}
	}
	return p.loadFrom(ctx, lib.KeyOptions{Path: path, VerifyingKey: vk})
}

// isSame tells whether path leads to an open file.
func isSame(file *os.File, path string) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	found, err := os.Stat(path)
	return err == nil && os.SameFile(opened, found)
}

func (p *Prover) loadFrom(ctx context.Context, options lib.KeyOptions) (*Key, error) {
	if p == nil || p.engine == nil {
		return nil, invalid("load key", "prover was not made by NewProver")
	}
	if p.options.RequireVerifyingKey && options.VerifyingKeyPath == "" && len(options.VerifyingKey) == 0 {
		return nil, invalid("load key", "the proving key has no verifying key, and RequireVerifyingKey is set")
	}
	options.Format = lib.FormatGnark
	options.PointChecks = p.options.PointChecks
	loaded, err := p.engine.LoadProvingKey(ctx, options)
	if err != nil {
		return nil, err
	}
	info, err := loaded.Info()
	if err != nil {
		loaded.Close()
		return nil, err
	}
	key := &Key{
		prover:  p,
		loaded:  loaded,
		info:    info,
		checked: options.VerifyingKeyPath != "" || len(options.VerifyingKey) != 0,
	}
	if !key.checked {
		log := logger.Logger()
		log.Warn().Str("backend", "groth16").Str("curve", "bls12_381").Uint64("domain", info.DomainSize).
			Msg("proving key without a verifying key: its proofs are not verified before they are given out")
	}
	return key, nil
}
