// Makes one proof: shortest KEY CIRCUIT WITNESS
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	groth16 "github.com/libgroth16/libgroth16/go-bindings"
)

func main() {
	engine, err := groth16.NewEngine(groth16.EngineOptions{})
	check(err)
	defer engine.Close()
	circuit, err := engine.LoadCircuit(groth16.CircuitOptions{Path: os.Args[2]})
	check(err)
	key, err := engine.LoadProvingKey(context.Background(), groth16.KeyOptions{Path: os.Args[1], Circuit: circuit})
	check(err)
	info, err := key.Info()
	check(err)

	witness, err := groth16.ReadWitness(os.Args[3])
	check(err)
	split := int(info.NumInputs) * groth16.ScalarSize
	inputs, aux := witness[:split], witness[split:] // the first input is one
	proof, err := engine.Prove(context.Background(), key, groth16.JobOptions{Circuit: circuit, Inputs: inputs, Aux: aux})
	check(err)
	fmt.Printf("%x\n", proof)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
