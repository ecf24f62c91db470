package groth16

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/consensys/gnark/frontend"
)

var update = flag.Bool("update", false, "write the keys that the tests of go-bindings read anew")

type cubic struct {
	X frontend.Variable
	Y frontend.Variable `gnark:",public"`
}

func (c *cubic) Define(api frontend.API) error {
	x3 := api.Mul(c.X, c.X, c.X)
	api.AssertIsEqual(c.Y, api.Add(x3, c.X, 5))
	return nil
}

// The module of the bindings does without gnark, so its tests read keys of this circuit from files.
func TestWriteFixture(t *testing.T) {
	if !*update {
		t.Skip("without -update")
	}
	f := setUp(t, &cubic{}, &cubic{X: 3, Y: 35})
	files := writeKeys(t, t.TempDir(), f.pk, f.vk)
	for name, path := range map[string]string{
		"cubic.pk": files[0].pk, "cubic.vk": files[0].vk, "cubic-raw.pk": files[1].pk, "cubic-raw.vk": files[1].vk,
	} {
		if err := os.WriteFile(filepath.Join("../testdata", name), mustRead(t, path), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
