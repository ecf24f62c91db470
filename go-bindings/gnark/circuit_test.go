package groth16

import (
	"fmt"
	"math/big"
	"sync"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	bls "github.com/consensys/gnark/backend/groth16/bls12-381"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	cs "github.com/consensys/gnark/constraint/bls12-381"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
)

// A circuit has an exact number of constraints. Public inputs take turns in occurring in A, in B, and in C only; so do
// OnlyA, OnlyB and OnlyC. The last product occurs in C only, Nowhere in none.
type circuit struct {
	Public              []frontend.Variable `gnark:",public"`
	Bits                []frontend.Variable
	OnlyA, OnlyB, OnlyC frontend.Variable
	X, Y, Nowhere       frontend.Variable

	constraints int
}

const numBits = 8

// small is the size of the circuits of tests for which size does not matter.
const small = 1 << 8

// smallest is how many constraints a circuit has at least.
func smallest(public int) int { return 2 + public + numBits }

func (c *circuit) Define(api frontend.API) error {
	api.AssertIsEqual(api.Mul(c.OnlyA, c.OnlyB), c.OnlyC)
	left := c.constraints - 2
	for _, bit := range c.Bits {
		api.AssertIsBoolean(bit)
		left--
	}
	product := c.X
	for i, p := range c.Public {
		switch i % 3 {
		case 0:
			product = api.Mul(p, product)
		case 1:
			product = api.Mul(product, p)
		case 2:
			api.AssertIsEqual(api.Add(product, i), p)
		}
		left--
	}
	for ; left > 0; left-- {
		product = api.Mul(product, api.Add(product, c.Y, left))
	}
	return nil
}

// assign is a witness that satisfies the circuit, made of x.
func assign(public int, x int64) *circuit {
	modulus := ecc.BLS12_381.ScalarField()
	product := big.NewInt(x)
	c := &circuit{
		OnlyA: new(big.Int).Sub(modulus, big.NewInt(1)), OnlyB: x, OnlyC: new(big.Int).Sub(modulus, big.NewInt(x)),
		X: x, Y: 0, Nowhere: x + 3,
	}
	for i := range numBits {
		c.Bits = append(c.Bits, (x>>i)&1)
	}
	for i := range public {
		p := big.NewInt(x*int64(i) + 2)
		if i%3 == 2 {
			p.Add(product, big.NewInt(int64(i))).Mod(p, modulus)
		} else {
			product = new(big.Int).Mul(product, p)
			product.Mod(product, modulus)
		}
		c.Public = append(c.Public, p)
	}
	return c
}

// A chain is the smallest circuit: as many products as there are constraints, with nothing or X public.
type chain struct {
	X frontend.Variable `gnark:",public"`
	Y frontend.Variable

	constraints int
}

func (c *chain) Define(api frontend.API) error {
	product := c.Y
	for range c.constraints {
		product = api.Mul(product, c.X)
	}
	return nil
}

type privateChain struct {
	X           frontend.Variable
	constraints int
}

func (c *privateChain) Define(api frontend.API) error {
	product := c.X
	for range c.constraints {
		product = api.Mul(product, c.X)
	}
	return nil
}

// A fixture is a circuit with a key pair and a witness.
type fixture struct {
	r1cs         constraint.ConstraintSystem
	pk           ProvingKey
	vk           VerifyingKey
	full, public witness.Witness
}

func (f *fixture) gnarkPK() *bls.ProvingKey { return f.pk.(*bls.ProvingKey) }

func compile(t testing.TB, definition frontend.Circuit, options ...frontend.CompileOption) constraint.ConstraintSystem {
	t.Helper()
	compiled, err := frontend.Compile(ecc.BLS12_381.ScalarField(), r1cs.NewBuilder, definition,
		append(options, frontend.IgnoreUnconstrainedInputs())...)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func witnesses(t testing.TB, assignment frontend.Circuit) (full, public witness.Witness) {
	t.Helper()
	full, err := frontend.NewWitness(assignment, ecc.BLS12_381.ScalarField())
	if err != nil {
		t.Fatal(err)
	}
	if public, err = full.Public(); err != nil {
		t.Fatal(err)
	}
	return full, public
}

// setUp is a fixture for any circuit.
func setUp(t testing.TB, definition, assignment frontend.Circuit) *fixture {
	t.Helper()
	f := &fixture{r1cs: compile(t, definition)}
	var err error
	if f.pk, f.vk, err = Setup(f.r1cs); err != nil {
		t.Fatal(err)
	}
	f.full, f.public = witnesses(t, assignment)
	return f
}

func define(constraints, public int) *circuit {
	return &circuit{
		Public:      make([]frontend.Variable, public),
		Bits:        make([]frontend.Variable, numBits),
		constraints: constraints,
	}
}

// newFixture has an exact number of constraints.
func newFixture(t testing.TB, constraints, public int) *fixture {
	t.Helper()
	f := setUp(t, define(constraints, public), assign(public, 0x5a3))
	if n := f.r1cs.GetNbConstraints(); n != constraints {
		t.Fatalf("%d constraints, wanted %d", n, constraints)
	}
	return f
}

var shared struct {
	sync.Mutex
	made map[string]*fixture
}

// sharedFixture is made once for all tests, which must not change it.
func sharedFixture(t testing.TB, constraints, public int) *fixture {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	name := fmt.Sprint(constraints, public)
	if shared.made[name] == nil {
		if shared.made == nil {
			shared.made = map[string]*fixture{}
		}
		shared.made[name] = newFixture(t, constraints, public)
	}
	return shared.made[name]
}

// The circuit must have what the tests of it are for.
func TestVariablesOfOneMatrix(t *testing.T) {
	f := sharedFixture(t, small, 50)
	system := f.r1cs.(*cs.R1CS)
	matrices := make([]string, len(f.gnarkPK().InfinityA))
	for _, row := range system.GetR1Cs() {
		for _, m := range []struct {
			name  string
			terms constraint.LinearExpression
		}{{"A", row.L}, {"B", row.R}, {"C", row.O}} {
			for _, term := range m.terms {
				if have := &matrices[term.WireID()]; len(*have) == 0 || (*have)[len(*have)-1:] != m.name {
					*have += m.name
				}
			}
		}
	}
	count := map[string]int{} // by public or private, and matrices
	for wire, in := range matrices {
		side := "private "
		if wire < system.GetNbPublicVariables() {
			side = "public "
		}
		count[side+in]++
	}
	for _, want := range []string{"public A", "public B", "public C", "private A", "private B", "private C", "private "} {
		if count[want] == 0 {
			t.Errorf("no variable is %q: %v", want, count)
		}
	}
}
