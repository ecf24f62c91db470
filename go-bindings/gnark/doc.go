// Package groth16 proves gnark's BLS12-381 circuits through libgroth16's split pipeline. It stands in for gnark's
// backend/groth16: a program changes one import,
//
//	import "github.com/libgroth16/libgroth16/go-bindings/gnark" // was github.com/consensys/gnark/backend/groth16
//
// and keeps its circuits, keys, witnesses, proofs and verifiers: all are gnark's own types.
//
// # Verifying keys
//
// gnark's proving key holds neither gamma nor IC, so a proof cannot be verified with it alone. [Setup] remembers the
// verifying key of the proving key that it made, for as long as that lives; for keys that were read from somewhere,
// [BindVerifyingKey] does it. Proofs of a bound key are verified before they are given out. Proofs of an unbound one
// are NOT: the witness is still checked against every constraint, but a proving key of another circuit that has the
// same shape, or a fault of the machine, gives a proof that does not verify. gnark's logger warns once for each such
// key; with [ProverOptions] they are refused instead, and [SetDefault] makes that the rule for Prove.
//
// # State
//
// [Prove] and the keys that Setup and BindVerifyingKey remember are the package's state: Prove loads a proving key into
// [Default], the package's [Prover], when it first sees it, again when another key was read into the same variable,
// and lets it go when the garbage collector takes gnark's. A service holds a Prover and a [Key] of its own instead:
// [Prover.LoadKeyFile] does without gnark's copy of the key, and [Key.Start] returns as soon as the witness is solved,
// so that the next one is solved while the proof is made.
//
// # Secrets
//
// The solved witness and the rows are handed over where they lie, without a copy, and overwritten with zeros when the
// library is done with them. What was given as a witness is left to the caller; copies that gnark's solver makes for
// hints are left to the garbage collector.
//
// # Limits
//
// Other curves, PLONK's constraint systems and circuits with commitments (such as those of api.Commit and of range
// checks that use it) are errors with the status ErrUnsupported of the module go-bindings. As in gnark, a constraint
// system whose blueprints have state (lookup tables) must not be solved by two goroutines at once.
package groth16
