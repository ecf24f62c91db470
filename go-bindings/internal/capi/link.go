package capi

// The installed shared library is found through pkg-config. With the build tag groth16_source it is the static one that
// `make` builds in the source tree around this module: the program then runs without further settings.

// #cgo !groth16_source pkg-config: groth16
// #cgo groth16_source CFLAGS: -I${SRCDIR}/../../../include
// #cgo groth16_source LDFLAGS: ${SRCDIR}/../../../target/static/libgroth16.a
// #cgo groth16_source,linux LDFLAGS: -lgcc_s -lutil -lrt -lpthread -lm -ldl
import "C"
