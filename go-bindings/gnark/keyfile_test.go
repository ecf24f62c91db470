package groth16

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	curve "github.com/consensys/gnark-crypto/ecc/bls12-381"
	bls "github.com/consensys/gnark/backend/groth16/bls12-381"

	lib "github.com/libgroth16/libgroth16/go-bindings"
)

type keyFiles struct{ pk, vk string }

// writeKeys writes a key pair to dir, compressed and raw.
func writeKeys(t testing.TB, dir string, pk ProvingKey, vk VerifyingKey) [2]keyFiles {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name string, to func(io.Writer) (int64, error)) string {
		var data bytes.Buffer
		if _, err := to(&data); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return [2]keyFiles{
		{write("compressed.pk", pk.WriteTo), write("compressed.vk", vk.WriteTo)},
		{write("raw.pk", pk.WriteRawTo), write("raw.vk", vk.WriteRawTo)},
	}
}

// Every form of the two keys works with every other.
func TestKeyFiles(t *testing.T) {
	p := newProver(t, ProverOptions{})
	f := sharedFixture(t, small, 50)
	files := writeKeys(t, t.TempDir(), f.pk, f.vk)
	for i, vk := range []string{files[0].vk, files[1].vk, ""} {
		for _, pk := range []string{files[0].pk, files[1].pk} {
			key, err := p.LoadKeyFile(context.Background(), pk, vk)
			if err != nil {
				t.Fatal(err)
			}
			defer key.Close()
			if key.SelfChecked() != (i < 2) {
				t.Errorf("vk %q: self-checked is %t", vk, key.SelfChecked())
			}
			proof, err := key.Prove(context.Background(), f.r1cs, f.full)
			if err != nil {
				t.Fatal(err)
			}
			if i < 2 {
				mustVerify(t, f, key, proof)
				continue
			}
			mustVerify(t, f, nil, proof)
			wantStatus(t, lib.ErrInvalid, key.Verify(proof, f.public))
		}
	}
}

func TestKeyFilesOfAnother(t *testing.T) {
	p := newProver(t, ProverOptions{})
	f := sharedFixture(t, small, 50)
	files := writeKeys(t, t.TempDir(), f.pk, f.vk)
	for name, other := range map[string]*fixture{
		"setup": newFixture(t, small, 50), "number of inputs": newFixture(t, small, 49),
	} {
		for i, others := range writeKeys(t, t.TempDir(), other.pk, other.vk) {
			if _, err := p.LoadKeyFile(context.Background(), files[i].pk, others.vk); err == nil {
				t.Errorf("a verifying key of another %s was taken", name)
			}
		}
	}
}

// The same through the bindings alone, from bytes, with the form told by the library.
func TestKeyBytes(t *testing.T) {
	p := newProver(t, ProverOptions{})
	f := sharedFixture(t, small, 50)
	files := writeKeys(t, t.TempDir(), f.pk, f.vk)
	for _, file := range files {
		pk, vk := mustRead(t, file.pk), mustRead(t, file.vk)
		for _, format := range []lib.Format{lib.FormatAuto, lib.FormatGnark} {
			key, err := p.Engine().LoadProvingKey(context.Background(),
				lib.KeyOptions{Data: pk, VerifyingKey: vk, Format: format})
			if err != nil {
				t.Fatal(err)
			}
			info, err := key.Info()
			if err != nil || info.Format != lib.FormatGnark || info.NumRowsAdded != 0 ||
				info.NumInputs != uint64(f.r1cs.GetNbPublicVariables()) || info.DomainSize != small {
				t.Errorf("%+v, %v", info, err)
			}
			key.Close()
		}
	}
}

// A job of a key without a verifying key must say that it does without the self-check.
func TestSelfCheckNeedsVerifyingKey(t *testing.T) {
	p := newProver(t, ProverOptions{})
	f := sharedFixture(t, small, 50)
	file := writeKeys(t, t.TempDir(), f.pk, f.vk)[0]
	key, err := p.Engine().LoadProvingKey(context.Background(), lib.KeyOptions{Path: file.pk})
	if err != nil {
		t.Fatal(err)
	}
	defer key.Close()
	system, err := asR1CS("test", f.r1cs)
	if err != nil {
		t.Fatal(err)
	}
	solved, err := solve("test", system, f.full, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Engine().Prove(context.Background(), key, solved.job(true))
	wantStatus(t, lib.ErrInvalid, err)
	if _, err = p.Engine().Prove(context.Background(), key, solved.job(false)); err != nil {
		t.Error(err)
	}
	_, err = key.VerifyingKey()
	wantStatus(t, lib.ErrInvalid, err)

	// With fixed randomness the forms of scalars, and of the rows, give one proof.
	job := solved.job(false)
	job.R, job.S = bytes.Repeat([]byte{7}, 32), bytes.Repeat([]byte{9}, 32)
	first, err := p.Engine().Prove(context.Background(), key, job)
	if err != nil {
		t.Fatal(err)
	}
	job.C = nil
	second, err := p.Engine().Prove(context.Background(), key, job)
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("another proof without c: %v", err)
	}
}

func mustRead(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A domain is its size, five scalars, and a mark.
const domainBytes = 8 + 5*32 + 1

// edges are the offsets in an encoded key at which a field, or a vector's head or body, ends.
func edges(t *testing.T, pk *bls.ProvingKey, raw bool) []int {
	t.Helper()
	var options []func(*curve.Encoder)
	if raw {
		options = append(options, curve.RawEncoding())
	}
	at, err := pk.Domain.WriteTo(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if at != domainBytes {
		t.Fatalf("a domain has %d bytes", at)
	}
	ends := []int{0, 8, 8 + 32, domainBytes - 1, domainBytes}
	add := func(value any, head int) {
		encoder := curve.NewEncoder(io.Discard, options...)
		if err := encoder.Encode(value); err != nil {
			t.Fatal(err)
		}
		if head > 0 {
			ends = append(ends, int(at)+head)
		}
		at += encoder.BytesWritten()
		ends = append(ends, int(at))
	}
	add(&pk.G1.Alpha, 0)
	add(&pk.G1.Beta, 0)
	add(&pk.G1.Delta, 0)
	for _, vector := range [][]curve.G1Affine{pk.G1.A, pk.G1.B, pk.G1.Z, pk.G1.K} {
		add(vector, 4)
	}
	add(&pk.G2.Beta, 0)
	add(&pk.G2.Delta, 0)
	add(pk.G2.B, 4)
	add(uint64(len(pk.InfinityA)), 0)
	add(pk.NbInfinityA, 0)
	add(pk.NbInfinityB, 0)
	add(pk.InfinityA, 0)
	add(pk.InfinityB, 0)
	add(uint32(0), 0)
	return ends
}

func TestTruncatedKeys(t *testing.T) {
	skipShort(t)
	p := newProver(t, ProverOptions{})
	f := newFixture(t, 33, 20)
	files := writeKeys(t, t.TempDir(), f.pk, f.vk)
	load := func(pk, vk []byte) error {
		key, err := p.Engine().LoadProvingKey(context.Background(),
			lib.KeyOptions{Data: pk, VerifyingKey: vk, Format: lib.FormatGnark})
		key.Close()
		return err
	}
	for i, file := range files {
		pk, vk := mustRead(t, file.pk), mustRead(t, file.vk)
		if err := load(pk, vk); err != nil {
			t.Fatal(err)
		}
		ends := edges(t, f.gnarkPK(), i == 1)
		if last := ends[len(ends)-1]; last != len(pk) {
			t.Fatalf("edges end at %d, the key at %d", last, len(pk))
		}
		for _, end := range ends {
			for _, cut := range []int{end - 1, end, end + 1} {
				if cut < 1 || cut >= len(pk) {
					continue
				}
				if err := load(pk[:cut], vk); err == nil {
					t.Errorf("%s: cut to %d of %d bytes was taken", file.pk, cut, len(pk))
				}
				path := filepath.Join(t.TempDir(), "cut")
				if err := os.WriteFile(path, pk[:cut], 0o600); err != nil {
					t.Fatal(err)
				}
				if _, err := p.LoadKeyFile(context.Background(), path, ""); err == nil {
					t.Errorf("%s: a file cut to %d of %d bytes was taken", file.pk, cut, len(pk))
				}
			}
		}
		for cut := 1; cut < len(vk); cut++ {
			if i == 1 && cut == len(vk)-8 {
				continue // raw and without the two empty lists it is bellman's form
			}
			if err := load(pk, vk[:cut]); err == nil {
				t.Errorf("%s: cut to %d of %d bytes was taken", file.vk, cut, len(vk))
			}
		}
		if err := load(append(pk[:len(pk):len(pk)], 0), vk); err == nil {
			t.Errorf("%s: a byte after the end was taken", file.pk)
		}
	}
}

// No single flipped byte of a key's numbers and points may crash, and none may pass as the key that it was.
func TestDamagedKeys(t *testing.T) {
	skipShort(t)
	p := newProver(t, ProverOptions{})
	f := newFixture(t, 33, 20)
	for i, file := range writeKeys(t, t.TempDir(), f.pk, f.vk) {
		pk := mustRead(t, file.pk)
		for _, end := range edges(t, f.gnarkPK(), i == 1) {
			if end == len(pk) {
				continue
			}
			damaged := bytes.Clone(pk)
			damaged[end] ^= 0x41
			key, err := p.Engine().LoadProvingKey(context.Background(),
				lib.KeyOptions{Data: damaged, Format: lib.FormatGnark})
			if err == nil {
				t.Errorf("%s: a change at %d of %d was taken", file.pk, end, len(pk))
			}
			key.Close()
		}
	}
}
