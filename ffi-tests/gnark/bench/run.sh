#!/usr/bin/env bash
# Times proofs of gnark's circuits against gnark's own prover, two threads for each.
#   ffi-tests/gnark/bench/run.sh PREFIX [FLAG...]     flags are the program's, see its -help
set -euo pipefail
prefix=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
export GOTOOLCHAIN=local GOFLAGS=-buildvcs=false GOWORK=off CGO_ENABLED=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/bench" .
# gnark starts as many tasks as the process has cores.
two=$(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' | awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }' |
  head -n 2 | paste -sd,)
taskset -c "$two" "$work/bench" "$@"
