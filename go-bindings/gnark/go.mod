module github.com/libgroth16/libgroth16/go-bindings/gnark

go 1.25.7

require (
	github.com/consensys/gnark v0.15.0
	github.com/consensys/gnark-crypto v0.20.1
	github.com/libgroth16/libgroth16/go-bindings v0.0.0
	github.com/rs/zerolog v1.34.0
)

require (
	github.com/bits-and-blooms/bitset v1.24.4 // indirect
	github.com/blang/semver/v4 v4.0.0 // indirect
	github.com/fxamacker/cbor/v2 v2.9.0 // indirect
	github.com/google/pprof v0.0.0-20260202012954-cb029daf43ef // indirect
	github.com/mattn/go-colorable v0.1.14 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	github.com/ronanh/intcomp v1.1.1 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	golang.org/x/crypto v0.48.0 // indirect
	golang.org/x/sync v0.19.0 // indirect
	golang.org/x/sys v0.41.0 // indirect
)

// In this tree the module stands beside the one that it needs.
replace github.com/libgroth16/libgroth16/go-bindings => ../
