// Package groth16 makes Groth16 proofs over BLS12-381 through libgroth16's split pipeline.
//
// An [Engine] owns devices, worker threads and a queue. A [ProvingKey] and, for jobs that start from a witness, a
// [Circuit] are loaded into it once. [Engine.Start] queues a proof and returns a [Job] at once; the device is released
// as soon as its kernels end, while the multi-scalar multiplication over G2 runs beside it on CPU threads. To keep a
// device busy, have several jobs in flight: start them from as many goroutines as you like, or in one.
// [Engine.Prove] and [Engine.ProveAll] do this for the common cases.
//
// # Scalars
//
// Scalars are elements of BLS12-381's scalar field, 32 bytes each, little-endian, one after another in a []byte.
// Inputs begin with the constant one. What a job is given is borrowed, not copied: it must not change until
// [EventABCReleased] (rows) and [EventTerminal] (all else), or until [Job.Close] has returned. The package pins it for
// that time, so any Go memory will do; a [Buffer] is uploaded faster to a GPU. The library wipes its own copies of
// secrets when they have served; your slices are left to you.
//
// # Contexts
//
// The context given to [Engine.Start] is the job's: when it ends the job is cancelled. The one given to [Job.Wait]
// bounds that wait alone.
//
// # Errors
//
// An error of the library is an [*Error], with a status and a text that names the place. The statuses are errors, too:
//
//	if errors.Is(err, groth16.ErrUnsatisfied) { ... }
//
// # Closing
//
// Everything here may be used from many goroutines at once. Close may be called at any time and more than once: it
// waits for calls that are under way, and each later call is answered by [ErrClosed]. The order does not matter: jobs
// keep what they need, and keys, circuits and ended jobs outlive their engine. What becomes unreachable without having
// been closed is closed by the garbage collector at some time, except a [Buffer].
//
// # Linking
//
// The installed library is found by pkg-config, under the name groth16. In a checkout of the library's sources, the
// build tag groth16_source links the static library that `make` builds there.
package groth16
