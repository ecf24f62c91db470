#!/usr/bin/env bash
# Tests the Go bindings against an installed library, and builds and runs their examples outside of the source tree.
#   ffi-tests/go/run.sh [PREFIX]     default: installs into target/stage first
# Uses target/fixtures, or what GROTH16_FIXTURES names, where it is there. Needs a C compiler, pkg-config and, for the
# program beside blst, a proxy of Go modules.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
fail() { echo "go: $*" >&2; exit 1; }
command -v go >/dev/null || fail "Go (1.24 or newer) is not here: https://go.dev/dl"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ $# -eq 0 ]; then
  make --no-print-directory install DESTDIR= PREFIX=target/stage LIBDIR=lib
  set -- target/stage
fi
prefix=$(cd "$1" && pwd)
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
export GOTOOLCHAIN=local GOFLAGS=-buildvcs=false GOWORK=off CGO_ENABLED=1
[ -e "$PKG_CONFIG_PATH/groth16.pc" ] || fail "$PKG_CONFIG_PATH/groth16.pc is not there"
if [ -z "${GROTH16_FIXTURES:-}" ] && [ -e target/fixtures/manifest ]; then
  export GROTH16_FIXTURES=$root/target/fixtures
fi

# step NAME COMMAND...: with its seconds
step() {
  local begin=$SECONDS
  "${@:2}" || fail "$1: failed"
  echo "go: $1: ok, $((SECONDS - begin)) s"
}
formatted() {
  local wrong
  wrong=$(gofmt -l go-bindings ffi-tests/go)
  [ -z "$wrong" ] || { echo "not formatted, run gofmt -w: $wrong"; return 1; }
}
readme() { # shows the very program that is built here
  diff -u <(sed -n '/^```go$/,/^```$/p' README.md | sed '/^```/d') go-bindings/examples/shortest/main.go
}
step format formatted
step readme readme
step vet go -C go-bindings vet ./...
step tests env GOGC=1 GODEBUG=cgocheck=1 go -C go-bindings test -count=1 ./...
# One build for both, as each of them compiles the standard library anew.
step "tests, race and cgocheck2" env GOEXPERIMENT=cgocheck2 go -C go-bindings test -count=1 -race .
step "vet beside blst" go -C ffi-tests/go/blst vet ./...
step "tests beside blst" go -C ffi-tests/go/blst test -count=1 ./...
if [ -e target/static/libgroth16.a ]; then # what `make` leaves
  step "tests with groth16_source" env -u PKG_CONFIG_PATH -u LD_LIBRARY_PATH \
    go -C go-bindings test -count=1 -tags groth16_source -run 'Example|Known|Verify' .
fi

# Examples as a user has them: the module elsewhere, the library in a prefix with a space in its name.
cp -R "$prefix" "$work/a prefix"
cp -R go-bindings "$work/bindings"
mkdir "$work/host"
cp go-bindings/examples/shortest/main.go "$work/host"
export PKG_CONFIG_PATH="$work/a prefix/lib/pkgconfig" LD_LIBRARY_PATH="$work/a prefix/lib"
case=$work/bindings/testdata/small
cd "$work/host"
go mod init example.com/host 2>/dev/null
go mod edit -require github.com/libgroth16/libgroth16/go-bindings@v0.0.0 \
  -replace "github.com/libgroth16/libgroth16/go-bindings=$work/bindings"
step "build outside of the tree" go build -o "$work/shortest" .
step "build of the worker" go -C "$work/bindings" build -o "$work/worker" ./examples/worker

shortest() {
  "$work/shortest" "$case.params" "$case.r1cs" "$case-0.wtns" | grep -Eqx '[0-9a-f]{384}'
}
real_circuit() {
  local files=$GROTH16_FIXTURES/output proof
  proof=$("$work/shortest" "$files.params" "$files.r1cs" "$files-0.wtns") || return 1
  printf '%b' "$(sed 's/../\\x&/g' <<<"$proof")" >"$work/proof"
  [ "$("$work/a prefix/bin/groth16" verify --key "$files.params" --public "$files-0.wtns" --proof "$work/proof")" = valid ]
}
# Answers every line, one job's error included.
worker() {
  { for i in 1 2 3 4 5 6 7 8; do echo "job-$i $case-0.wtns"; done; echo "lost /nowhere/w.wtns"; echo word; } |
    "$work/worker" -key "$case.params" -circuit "$case.r1cs" >"$work/answers" 2>"$work/log" || return 1
  [ "$(grep -Ec '^job-[1-8] proof [0-9a-f]{384}$' "$work/answers")" = 8 ] &&
    grep -q '^lost error .*no such file' "$work/answers" && grep -q '^word error ' "$work/answers"
}
# Ends at a signal, with nothing more on its input and what it took answered.
signalled() {
  local pid
  mkfifo "$work/jobs"
  "$work/worker" -key "$case.params" -circuit "$case.r1cs" <"$work/jobs" >"$work/answers" 2>"$work/log" &
  pid=$!
  exec 3>"$work/jobs"
  echo "first $case-0.wtns" >&3
  for _ in $(seq 600); do
    if [ -s "$work/answers" ]; then break; fi
    sleep 0.1
  done
  kill -TERM $pid
  wait $pid || return 1
  exec 3>&-
  grep -q '^first proof ' "$work/answers"
}
step shortest shortest
if [ -n "${GROTH16_FIXTURES:-}" ]; then step "shortest, a real circuit" real_circuit; fi
step worker worker
step "worker, a signal" signalled
echo "go: all ok, $SECONDS s"
