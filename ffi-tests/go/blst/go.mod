module github.com/libgroth16/libgroth16/ffi-tests/go/blst

go 1.24

require (
	github.com/libgroth16/libgroth16/go-bindings v0.0.0
	github.com/supranational/blst v0.3.17
)

replace github.com/libgroth16/libgroth16/go-bindings => ../../../go-bindings
