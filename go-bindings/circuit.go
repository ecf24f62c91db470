package groth16

import (
	"runtime"

	"github.com/libgroth16/libgroth16/go-bindings/internal/capi"
)

// A Matrix is one of an R1CS's, in compressed rows. Column 0 is the constant one, then come inputs, then aux.
type Matrix struct {
	// RowStarts has one more element than there are rows: where each row's terms start, then the number of terms.
	RowStarts []uint64
	// Columns has an element for each term.
	Columns []uint32
	// Values has a canonical scalar for each term.
	Values []byte
}

// CircuitOptions say where a circuit comes from: Path, Data, or the matrices.
type CircuitOptions struct {
	// Path is an iden3 .r1cs file over BLS12-381's scalar field.
	Path string
	// Data is such a file's bytes.
	Data []byte
	// A, B and C are the matrices, which are copied.
	A, B, C Matrix
	// NumRows is the number of rows of each matrix.
	NumRows int
	// NumInputs counts the constant one.
	NumInputs int
	NumAux    int
}

// CircuitInfo tells what a circuit holds.
type CircuitInfo struct {
	NumRows   uint64
	NumInputs uint64 // the constant one included
	NumAux    uint64
	NumTerms  uint64 // of all matrices, zeros included
}

// A Circuit is an R1CS, immutable and shared by any number of jobs.
type Circuit struct {
	handle *handle[capi.Circuit]
	engine *Engine
}

// LoadCircuit loads a circuit and checks it.
func (e *Engine) LoadCircuit(options CircuitOptions) (*Circuit, error) {
	const op = "load circuit"
	if err := checkText(op, "the path", options.Path); err != nil {
		return nil, err
	}
	o := capi.CircuitOptions{Path: options.Path, Data: options.Data}
	if options.Path == "" && len(options.Data) == 0 {
		if options.NumRows < 0 || options.NumInputs < 0 || options.NumAux < 0 {
			return nil, invalid(op, "negative size: %d rows, %d inputs, %d aux",
				options.NumRows, options.NumInputs, options.NumAux)
		}
		o.NumRows, o.NumInputs, o.NumAux = uint64(options.NumRows), uint64(options.NumInputs), uint64(options.NumAux)
		for _, m := range []struct {
			name string
			from *Matrix
			to   *capi.Matrix
		}{{"A", &options.A, &o.A}, {"B", &options.B, &o.B}, {"C", &options.C, &o.C}} {
			if err := m.from.check(op, m.name, options.NumRows); err != nil {
				return nil, err
			}
			*m.to = capi.Matrix(*m.from)
		}
	} else if options.A.RowStarts != nil || options.B.RowStarts != nil || options.C.RowStarts != nil {
		return nil, invalid(op, "both a file and matrices are set")
	}
	engine, err := e.use(op)
	if err != nil {
		return nil, err
	}
	defer e.done()
	loaded, failure := engine.CircuitLoad(&o)
	if failure != nil {
		return nil, asError(op, failure)
	}
	circuit := &Circuit{newHandle("circuit", loaded, capi.Circuit.Free), e}
	runtime.AddCleanup(circuit, (*handle[capi.Circuit]).closeLater, circuit.handle)
	return circuit, nil
}

// check makes sure that the library, which sees no lengths, reads nothing beyond the slices.
func (m *Matrix) check(op, name string, rows int) error {
	if len(m.RowStarts) != rows+1 {
		return invalid(op, "matrix %s: %d row starts for %d rows, wanted %d", name, len(m.RowStarts), rows, rows+1)
	}
	terms := m.RowStarts[rows]
	if uint64(len(m.Columns)) != terms {
		return invalid(op, "matrix %s: %d columns, wanted %d as the last row start says", name, len(m.Columns), terms)
	}
	if len(m.Values)%capi.ScalarSize != 0 || uint64(len(m.Values)/capi.ScalarSize) != terms {
		return invalid(op, "matrix %s: values of %d bytes, wanted %d scalars of %d", name, len(m.Values), terms,
			capi.ScalarSize)
	}
	return nil
}

// Close releases the circuit; jobs that need it keep it alive. It always returns nil.
func (c *Circuit) Close() error {
	if c != nil {
		c.handle.close()
	}
	return nil
}

// Info tells what the circuit holds.
func (c *Circuit) Info() (CircuitInfo, error) {
	const op = "circuit info"
	circuit, err := c.use(op)
	if err != nil {
		return CircuitInfo{}, err
	}
	defer c.handle.done()
	info, failure := circuit.Info()
	return CircuitInfo(info), asError(op, failure)
}

func (c *Circuit) use(op string) (capi.Circuit, error) {
	if c == nil {
		return (*handle[capi.Circuit])(nil).use(op)
	}
	return c.handle.use(op)
}
