module github.com/libgroth16/libgroth16/go-bindings

go 1.24
