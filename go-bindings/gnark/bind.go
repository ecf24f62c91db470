package groth16

import (
	"bytes"
	"runtime"
	"sync"
	"weak"

	curve "github.com/consensys/gnark-crypto/ecc/bls12-381"
	bls "github.com/consensys/gnark/backend/groth16/bls12-381"
)

// A binding is the verifying key of a proving key.
type binding struct {
	vk   []byte // gnark's raw form
	mark fingerprint
}

// bound holds the bindings of proving keys that live. It must not reach the keys.
var bound = struct {
	sync.Mutex
	to map[weak.Pointer[bls.ProvingKey]]*binding
}{to: map[weak.Pointer[bls.ProvingKey]]*binding{}}

// BindVerifyingKey says which verifying key belongs to a proving key that was read, so that [Prove] verifies the
// proofs of it before they are given out. It fails with ErrInvalid if they do not belong together. The verifying key is
// copied. Bind a key before its first proof, which else loads it without, to load it once more later. The binding ends
// when another key is read into pk, and when pk is collected.
func BindVerifyingKey(pk ProvingKey, vk VerifyingKey) error {
	const op = "bind verifying key"
	p, err := asProvingKey(op, pk)
	if err != nil {
		return err
	}
	encoded, err := encodeVerifyingKey(op, p, vk)
	if err != nil {
		return err
	}
	pointer := weak.Make(p)
	bound.Lock()
	defer bound.Unlock()
	if bound.to[pointer] == nil {
		runtime.AddCleanup(p, unbind, pointer)
	}
	bound.to[pointer] = &binding{encoded, fingerprintOf(p)}
	return nil
}

func unbind(pointer weak.Pointer[bls.ProvingKey]) {
	bound.Lock()
	defer bound.Unlock()
	delete(bound.to, pointer)
}

// boundTo is the verifying key of pk, whose fingerprint is mark, or nil.
func boundTo(pk *bls.ProvingKey, mark *fingerprint) []byte {
	bound.Lock()
	defer bound.Unlock()
	if b := bound.to[weak.Make(pk)]; b != nil && b.mark == *mark {
		return b.vk
	}
	return nil
}

// encodeVerifyingKey is vk in gnark's raw form, for a vk that belongs to pk.
func encodeVerifyingKey(op string, pk *bls.ProvingKey, vk VerifyingKey) ([]byte, error) {
	v, err := asVerifyingKey(op, vk)
	if err != nil {
		return nil, err
	}
	if v.G1.Alpha != pk.G1.Alpha || v.G2.Beta != pk.G2.Beta || v.G2.Delta != pk.G2.Delta {
		return nil, invalid(op, "alpha, beta or delta differ: the verifying key belongs to another proving key")
	}
	if public := len(pk.InfinityA) - len(pk.G1.K); len(v.G1.K) != public {
		return nil, invalid(op, "the verifying key is for %d public wires, the proving key for %d", len(v.G1.K), public)
	}
	var encoded bytes.Buffer
	same := *v // writing sets a field, and others may read vk now
	if _, err := same.WriteRawTo(&encoded); err != nil {
		return nil, err
	}
	return encoded.Bytes(), nil
}

// A fingerprint tells whether a proving key's variable still holds the same key: all single points, sizes, and three
// points of each vector. It costs no more than to copy them, and every setup, as every contribution to a ceremony,
// changes delta.
type fingerprint struct {
	domain, wires, infinityA, infinityB uint64
	alpha, beta1, delta1                curve.G1Affine
	beta2, delta2                       curve.G2Affine
	a, b1, z, k                         sample[curve.G1Affine]
	b2                                  sample[curve.G2Affine]
}

type sample[T any] struct {
	n                   int
	first, middle, last T
}

func sampleOf[T any](points []T) sample[T] {
	n := len(points)
	if n == 0 {
		return sample[T]{}
	}
	return sample[T]{n, points[0], points[n/2], points[n-1]}
}

func fingerprintOf(pk *bls.ProvingKey) fingerprint {
	return fingerprint{
		domain: pk.Domain.Cardinality, wires: uint64(len(pk.InfinityA)),
		infinityA: pk.NbInfinityA, infinityB: pk.NbInfinityB,
		alpha: pk.G1.Alpha, beta1: pk.G1.Beta, delta1: pk.G1.Delta,
		beta2: pk.G2.Beta, delta2: pk.G2.Delta,
		a: sampleOf(pk.G1.A), b1: sampleOf(pk.G1.B), z: sampleOf(pk.G1.Z), k: sampleOf(pk.G1.K),
		b2: sampleOf(pk.G2.B),
	}
}
