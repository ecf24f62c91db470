// Proves that it knows an x with x^3 + x + 5 = 35: gnark's first circuit, with one import of gnark's replaced.
package main

import (
	"fmt"
	"log"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"

	groth16 "github.com/libgroth16/libgroth16/go-bindings/gnark" // was github.com/consensys/gnark/backend/groth16
)

type cubic struct {
	X frontend.Variable
	Y frontend.Variable `gnark:",public"`
}

func (c *cubic) Define(api frontend.API) error {
	x3 := api.Mul(c.X, c.X, c.X)
	api.AssertIsEqual(c.Y, api.Add(x3, c.X, 5))
	return nil
}

func main() {
	field := ecc.BLS12_381.ScalarField()
	circuit, err := frontend.Compile(field, r1cs.NewBuilder, &cubic{})
	check(err)
	pk, vk, err := groth16.Setup(circuit)
	check(err)

	witness, err := frontend.NewWitness(&cubic{X: 3, Y: 35}, field)
	check(err)
	proof, err := groth16.Prove(circuit, pk, witness)
	check(err)

	public, err := witness.Public()
	check(err)
	check(groth16.Verify(proof, vk, public))
	fmt.Println("proved and verified")
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
