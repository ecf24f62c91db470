#!/usr/bin/env bash
# Tests the gnark bridge against an installed library, and builds and runs its example outside of the source tree.
#   ffi-tests/gnark/run.sh [--long] [PREFIX]     default: installs into target/stage first
# --long proves circuits of each size from 2^10 to 2^16 constraints, and looks for races. Needs a C compiler, pkg-config and
# a proxy of Go modules.
set -euo pipefail
cd "$(dirname "$0")/../.."
fail() { echo "gnark: $*" >&2; exit 1; }
command -v go >/dev/null || fail "Go (1.25.7 or newer) is not here: https://go.dev/dl"
if [ "${1:-}" = --long ]; then
  export GROTH16_GNARK_LONG=1
  shift
fi
if [ $# -eq 0 ]; then
  make --no-print-directory install DESTDIR= PREFIX=target/stage LIBDIR=lib
  set -- target/stage
fi
prefix=$(cd "$1" && pwd)
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
export GOTOOLCHAIN=local GOFLAGS=-buildvcs=false GOWORK=off CGO_ENABLED=1
[ -e "$PKG_CONFIG_PATH/groth16.pc" ] || fail "$PKG_CONFIG_PATH/groth16.pc is not there"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# step NAME COMMAND...: with its seconds
step() {
  local begin=$SECONDS
  "${@:2}" || fail "$1: failed"
  echo "gnark: $1: ok, $((SECONDS - begin)) s"
}
formatted() {
  local wrong
  wrong=$(gofmt -l go-bindings/gnark ffi-tests/gnark)
  [ -z "$wrong" ] || { echo "not formatted, run gofmt -w: $wrong"; return 1; }
}
step format formatted
step vet go -C go-bindings/gnark vet ./...
step tests env GODEBUG=cgocheck=1 go -C go-bindings/gnark test -count=1 -timeout 60m .
# A collector that runs all the time, for what is pinned and for what is held by weak pointers.
step "tests, GOGC=1" env -u GROTH16_GNARK_LONG GOGC=1 GODEBUG=cgocheck=1 \
  go -C go-bindings/gnark test -count=1 -short -run 'Start|Cancel|Concurrent|Lent|Collected|ReadAnew|Package' .
# What is shared between goroutines, and what is lent to C. One build for both, which compiles all of gnark anew and takes
# minutes: in the long run.
if [ -n "${GROTH16_GNARK_LONG:-}" ]; then
  step "tests, race and cgocheck2" env -u GROTH16_GNARK_LONG GOEXPERIMENT=cgocheck2 \
    go -C go-bindings/gnark test -count=1 -race -timeout 60m -short .
fi

# The example as a user has it: the modules elsewhere.
cp -R go-bindings "$work/bindings"
mkdir "$work/host"
cp go-bindings/gnark/examples/cubic/main.go "$work/host"
cp go-bindings/gnark/go.sum "$work/host"
host() (
  cd "$work/host"
  sed -e 's|^module .*|module example.com/host|' -e '/^replace/d' "$work/bindings/gnark/go.mod" >go.mod
  module=github.com/libgroth16/libgroth16/go-bindings
  go mod edit -require $module/gnark@v0.0.0 -replace "$module=$work/bindings" -replace "$module/gnark=$work/bindings/gnark"
  go build -mod=mod -o "$work/cubic" .
)
example() { # gnark logs to stdout
  "$work/cubic" >"$work/log" && [ "$(tail -n 1 "$work/log")" = "proved and verified" ] || { cat "$work/log"; return 1; }
}
step "build of the example" host
step example example

bench() {
  ffi-tests/gnark/bench/run.sh "$prefix" -logs 10 -rounds 1 >"$work/ratios" || { cat "$work/ratios"; return 1; }
  [ "$(grep -Ec '^RATIO gnark_prove_2\^10(_bits)?_T2(_without_solve)?_vs_gnark [0-9.]+$' "$work/ratios")" = 4 ]
}
step "vet of the bench" go -C ffi-tests/gnark/bench vet ./...
step bench bench
echo "gnark: all ok, $SECONDS s"
