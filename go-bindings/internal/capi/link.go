package capi

// The installed library is found through pkg-config. With the build tag groth16_source it is the one of the source
// tree that this module lies in, which `make` builds; the program then finds it at run time without further settings.

// #cgo !groth16_source pkg-config: groth16
// #cgo groth16_source CFLAGS: -I${SRCDIR}/../../../include
// #cgo groth16_source LDFLAGS: -L${SRCDIR}/../../../target/release -lgroth16 -Wl,-rpath,${SRCDIR}/../../../target/release
import "C"
