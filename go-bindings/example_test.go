package groth16_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	groth16 "github.com/libgroth16/libgroth16/go-bindings"
)

// load is what the examples begin with: an engine on the CPU, a circuit, its key, and a witness split into inputs, the
// constant one in front, and aux.
func load() (engine *groth16.Engine, circuit *groth16.Circuit, key *groth16.ProvingKey, inputs, aux []byte) {
	engine, err := groth16.NewEngine(groth16.EngineOptions{Backend: groth16.BackendCPU})
	if err != nil {
		log.Fatal(err)
	}
	circuit, err = engine.LoadCircuit(groth16.CircuitOptions{Path: "testdata/small.r1cs"})
	if err != nil {
		log.Fatal(err)
	}
	key, err = engine.LoadProvingKey(context.Background(), groth16.KeyOptions{
		Path:    "testdata/small.params",
		Circuit: circuit,
	})
	if err != nil {
		log.Fatal(err)
	}
	witness, err := groth16.ReadWitness("testdata/small-0.wtns")
	if err != nil {
		log.Fatal(err)
	}
	const numInputs = 8
	return engine, circuit, key, witness[:numInputs*groth16.ScalarSize], witness[numInputs*groth16.ScalarSize:]
}

func Example() {
	engine, circuit, key, inputs, aux := load()
	defer engine.Close()

	proof, err := engine.Prove(context.Background(), key, groth16.JobOptions{Circuit: circuit, Inputs: inputs, Aux: aux})
	if err != nil {
		log.Fatal(err)
	}
	valid, err := key.Verify(inputs, proof)
	fmt.Println(len(proof), "bytes, valid:", valid, err)
	// Output: 192 bytes, valid: true <nil>
}

func ExampleEngine_Start() {
	engine, circuit, key, inputs, aux := load()
	defer engine.Close()

	job, err := engine.Start(context.Background(), key, groth16.JobOptions{Circuit: circuit, Inputs: inputs, Aux: aux})
	if err != nil {
		log.Fatal(err)
	}
	defer job.Close()
	for event := range job.Events() { // optional: Proof waits, too
		fmt.Println(event)
	}
	proof, err := job.Proof()
	fmt.Println(len(proof), "bytes,", err)
	progress, err := job.Poll()
	fmt.Println(progress.State, err)
	// Output:
	// abc released
	// terminal
	// 192 bytes, <nil>
	// done <nil>
}

func ExampleEngine_ProveAll() {
	engine, circuit, key, inputs, aux := load()
	defer engine.Close()

	partitions := make([]groth16.JobOptions, 10)
	for i := range partitions {
		partitions[i] = groth16.JobOptions{Circuit: circuit, Inputs: inputs, Aux: aux}
	}
	proofs, err := engine.ProveAll(context.Background(), key, partitions)
	fmt.Println(len(proofs), "proofs,", err)
	// Output: 10 proofs, <nil>
}

func ExampleError() {
	engine, circuit, key, inputs, aux := load()
	defer engine.Close()

	aux[0] ^= 1
	_, err := engine.Prove(context.Background(), key, groth16.JobOptions{Circuit: circuit, Inputs: inputs, Aux: aux})
	fmt.Println(errors.Is(err, groth16.ErrUnsatisfied))
	var e *groth16.Error
	if errors.As(err, &e) {
		fmt.Println(e.Status.Name())
	}
	// Output:
	// true
	// GROTH16_E_UNSATISFIED
}

func ExampleBuffer() {
	engine, circuit, key, inputs, aux := load()
	defer engine.Close()

	buffer, err := engine.NewBuffer(len(aux))
	if err != nil {
		log.Fatal(err)
	}
	defer buffer.Close()
	copy(buffer.Bytes(), aux) // or compute the witness there
	proof, err := engine.Prove(context.Background(), key, groth16.JobOptions{
		Circuit: circuit, Inputs: inputs, Aux: buffer.Bytes(),
	})
	fmt.Println(len(proof), "bytes,", err)
	// Output: 192 bytes, <nil>
}
