package groth16_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	groth16 "github.com/libgroth16/libgroth16/go-bindings"
)

// scalars are small values, one after another.
func scalars(values ...byte) []byte {
	out := make([]byte, len(values)*groth16.ScalarSize)
	for i, value := range values {
		out[i*groth16.ScalarSize] = value
	}
	return out
}

// cubicJob proves x^3 + x + 5 = 35 for x = 3. Wires: one, y, then x, x^2, x^3; rows: x x = x^2, x^2 x = x^3,
// 1 y = x^3 + x + 5.
func cubicJob() groth16.JobOptions {
	return groth16.JobOptions{
		A: scalars(3, 9, 1), B: scalars(3, 3, 35), C: scalars(9, 27, 35),
		Inputs: scalars(1, 35), Aux: scalars(3, 9, 27),
	}
}

func TestGnarkKey(t *testing.T) {
	engine := newEngine(t, groth16.EngineOptions{})
	ctx := context.Background()
	file := func(name string) string { return filepath.Join("testdata", name) }
	read := func(name string) []byte {
		data, err := os.ReadFile(file(name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for name, options := range map[string]groth16.KeyOptions{
		"files":        {Path: file("cubic.pk"), VerifyingKeyPath: file("cubic.vk")},
		"raw files":    {Path: file("cubic-raw.pk"), VerifyingKeyPath: file("cubic-raw.vk")},
		"bytes":        {Data: read("cubic.pk"), VerifyingKey: read("cubic-raw.vk"), Format: groth16.FormatGnark},
		"raw and file": {Data: read("cubic-raw.pk"), VerifyingKeyPath: file("cubic.vk"), Format: groth16.FormatGnark},
	} {
		key, err := engine.LoadProvingKey(ctx, options)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		info, err := key.Info()
		if err != nil || info.Format != groth16.FormatGnark || info.NumInputs != 2 || info.NumAux != 3 ||
			info.DomainSize != 4 || info.NumRowsAdded != 0 {
			t.Errorf("%s: %+v, %v", name, info, err)
		}
		proof, err := engine.Prove(ctx, key, cubicJob())
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if valid, err := key.Verify(scalars(1, 35), proof); err != nil || !valid {
			t.Errorf("%s: %t, %v", name, valid, err)
		}
		if valid, err := key.Verify(scalars(1, 34), proof); err != nil || valid {
			t.Errorf("%s, another input: %t, %v", name, valid, err)
		}
		key.Close()
	}
}

func TestGnarkKeyWithoutVerifyingKey(t *testing.T) {
	engine := newEngine(t, groth16.EngineOptions{})
	ctx := context.Background()
	load := func(options groth16.KeyOptions) *groth16.ProvingKey {
		key, err := engine.LoadProvingKey(ctx, options)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { key.Close() })
		return key
	}
	key := load(groth16.KeyOptions{Path: "testdata/cubic.pk"})
	job := cubicJob()
	invalid := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, groth16.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := engine.Prove(ctx, key, job)
	invalid("a job with the self-check", err)
	job.SkipSelfCheck = true
	proof, err := engine.Prove(ctx, key, job)
	if err != nil {
		t.Fatal(err)
	}
	_, err = key.Verify(job.Inputs, proof)
	invalid("verify", err)
	_, err = key.VerifyingKey()
	invalid("verifying key", err)
	whole := load(groth16.KeyOptions{Path: "testdata/cubic.pk", VerifyingKeyPath: "testdata/cubic.vk"})
	if valid, err := whole.Verify(job.Inputs, proof); err != nil || !valid {
		t.Errorf("%t, %v", valid, err)
	}
}

func TestGnarkVerifyingKeyErrors(t *testing.T) {
	engine := newEngine(t, groth16.EngineOptions{})
	vk, err := os.ReadFile("testdata/cubic.vk")
	if err != nil {
		t.Fatal(err)
	}
	small := smallFixture(t)
	for name, c := range map[string]struct {
		options groth16.KeyOptions
		want    groth16.Status
	}{
		"both":        {groth16.KeyOptions{VerifyingKeyPath: "testdata/cubic.vk", VerifyingKey: vk}, groth16.ErrInvalid},
		"zero":        {groth16.KeyOptions{VerifyingKeyPath: "a\x00b"}, groth16.ErrInvalid},
		"nowhere":     {groth16.KeyOptions{VerifyingKeyPath: "/nowhere/vk"}, groth16.ErrIO},
		"no file":     {groth16.KeyOptions{VerifyingKeyPath: os.DevNull}, groth16.ErrIO},
		"cut":         {groth16.KeyOptions{VerifyingKey: vk[:len(vk)-1]}, groth16.ErrFormat},
		"longer":      {groth16.KeyOptions{VerifyingKey: append(vk[:len(vk):len(vk)], 0)}, groth16.ErrFormat},
		"a pk":        {groth16.KeyOptions{VerifyingKeyPath: "testdata/cubic.pk"}, groth16.ErrFormat},
		"not gnark's": {groth16.KeyOptions{Path: small.params, VerifyingKey: vk}, groth16.ErrInvalid},
	} {
		if c.options.Path == "" {
			c.options.Path = "testdata/cubic.pk"
		}
		key, err := engine.LoadProvingKey(context.Background(), c.options)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		key.Close()
	}
}
