package groth16_test

import (
	"context"
	"encoding/binary"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	groth16 "github.com/libgroth16/libgroth16/go-bindings"
)

// A fixture is a circuit with a key, a witness, and the proof for a known randomness.
type fixture struct {
	params, r1cs string
	numInputs    int // the constant one included
	witness      []byte
	r, s, proof  []byte
}

func (f *fixture) inputs() []byte { return f.witness[:f.numInputs*groth16.ScalarSize] }
func (f *fixture) aux() []byte    { return f.witness[f.numInputs*groth16.ScalarSize:] }

func readFixture(t testing.TB, dir, name string, numInputs int) *fixture {
	t.Helper()
	file := func(suffix string) string { return filepath.Join(dir, name+suffix) }
	read := func(suffix string) []byte {
		data, err := os.ReadFile(file(suffix))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	witness, err := groth16.ReadWitness(file("-0.wtns"))
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{file(".params"), file(".r1cs"), numInputs, witness, read("-0.r"), read("-0.s"), read("-0.proof")}
}

func smallFixture(t testing.TB) *fixture { return readFixture(t, "testdata", "small", 8) }

// A bench is an engine with a fixture loaded.
type bench struct {
	*fixture
	engine  *groth16.Engine
	circuit *groth16.Circuit
	key     *groth16.ProvingKey
}

func newEngine(t testing.TB, options groth16.EngineOptions) *groth16.Engine {
	t.Helper()
	options.Backend = groth16.BackendCPU
	engine, err := groth16.NewEngine(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close() })
	return engine
}

func newBench(t testing.TB, f *fixture, options groth16.EngineOptions) *bench {
	t.Helper()
	engine := newEngine(t, options)
	circuit, err := engine.LoadCircuit(groth16.CircuitOptions{Path: f.r1cs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { circuit.Close() })
	key, err := engine.LoadProvingKey(context.Background(), groth16.KeyOptions{Path: f.params, Circuit: circuit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { key.Close() })
	return &bench{f, engine, circuit, key}
}

// job is the fixture's statement with its known randomness, so that the proof must be the known one.
func (b *bench) job() groth16.JobOptions {
	return groth16.JobOptions{Circuit: b.circuit, Inputs: b.inputs(), Aux: b.aux(), R: b.r, S: b.s}
}

// start must succeed.
func (b *bench) start(t testing.TB, ctx context.Context) *groth16.Job {
	t.Helper()
	job, err := b.engine.Start(ctx, b.key, b.job())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { job.Close() })
	return job
}

// ended is how many jobs the engine's metrics count that ended so: "done", "failed" or "cancelled".
func (b *bench) ended(t testing.TB, result string) int {
	t.Helper()
	metrics, err := b.engine.Metrics()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(metrics, `groth16_jobs_ended_total{result="`+result+`"} `)
	line, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.Atoi(line)
	if !found || err != nil {
		t.Fatalf("no count of jobs that are %s: %v\n%s", result, err, metrics)
	}
	return n
}

// noGoroutineLeft fails a test that ends with more goroutines than there are now. Call it before anything is made.
func noGoroutineLeft(t testing.TB) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		eventually(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= before })
	})
}

func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("not within 10 s: %s\n%s", what, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// within fails the test, with all stacks, if f takes longer.
func within(t testing.TB, limit time.Duration, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(limit):
		stacks := make([]byte, 1<<16)
		t.Fatalf("not within %v: %s\n%s", limit, what, stacks[:runtime.Stack(stacks, true)])
	}
}

// An r1cs is a parsed .r1cs file, trusted.
type r1cs struct {
	modulus            *big.Int
	rows, inputs, aux  int
	a, b, c            groth16.Matrix
	aAux, bInput, bAux groth16.Bits
}

func readR1CS(t testing.TB, path string) *r1cs {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	sections := map[uint32][]byte{}
	for rest := data[12:]; len(rest) > 0; {
		size := le.Uint64(rest[4:])
		sections[le.Uint32(rest)] = rest[12 : 12+size]
		rest = rest[12+size:]
	}
	header, body := sections[1], sections[2]
	wires := int(le.Uint32(header[36:]))
	r := &r1cs{modulus: toBig(header[4:36])}
	r.inputs = 1 + int(le.Uint32(header[40:])) + int(le.Uint32(header[44:]))
	r.aux = wires - r.inputs
	r.rows = int(le.Uint32(header[len(header)-4:]))
	r.aAux, r.bInput, r.bAux = groth16.NewBits(r.aux), groth16.NewBits(r.inputs), groth16.NewBits(r.aux)
	for range r.rows {
		for _, m := range []*groth16.Matrix{&r.a, &r.b, &r.c} {
			m.RowStarts = append(m.RowStarts, uint64(len(m.Columns)))
			terms := le.Uint32(body)
			body = body[4:]
			for range terms {
				column := le.Uint32(body)
				m.Columns = append(m.Columns, column)
				m.Values = append(m.Values, body[4:36]...)
				body = body[36:]
				switch {
				case m == &r.a && int(column) >= r.inputs:
					r.aAux.Set(int(column) - r.inputs)
				case m == &r.b && int(column) >= r.inputs:
					r.bAux.Set(int(column) - r.inputs)
				case m == &r.b:
					r.bInput.Set(int(column))
				}
			}
		}
	}
	for _, m := range []*groth16.Matrix{&r.a, &r.b, &r.c} {
		m.RowStarts = append(m.RowStarts, uint64(len(m.Columns)))
	}
	return r
}

// eval is the matrix times the witness, a canonical scalar a row.
func (r *r1cs) eval(m *groth16.Matrix, witness []byte) []byte {
	out := make([]byte, 0, r.rows*groth16.ScalarSize)
	for row := range r.rows {
		sum := new(big.Int)
		for i := m.RowStarts[row]; i < m.RowStarts[row+1]; i++ {
			product := new(big.Int).Mul(toBig(scalar(m.Values, int(i))), toBig(scalar(witness, int(m.Columns[i]))))
			sum.Add(sum, product)
		}
		out = append(out, fromBig(sum.Mod(sum, r.modulus))...)
	}
	return out
}

func scalar(s []byte, i int) []byte { return s[i*groth16.ScalarSize : (i+1)*groth16.ScalarSize] }

func toBig(le []byte) *big.Int {
	be := make([]byte, len(le))
	for i, b := range le {
		be[len(le)-1-i] = b
	}
	return new(big.Int).SetBytes(be)
}

func fromBig(x *big.Int) []byte {
	out := x.FillBytes(make([]byte, groth16.ScalarSize))
	for i := range len(out) / 2 {
		out[i], out[len(out)-1-i] = out[len(out)-1-i], out[i]
	}
	return out
}
