#!/usr/bin/env bash
# Memory and file handles do not grow over many proofs: ffi-tests/c/soak.c, with the real Sapling Output circuit where
# `make fixtures` has recorded it, else with a synthetic one of 2^10 rows.
#   ffi-tests/soak/run.sh [PROOFS, default 1000] [KIB of growth that is allowed, default 1024]
set -euo pipefail
cd "$(dirname "$0")/../.."
. ffi-tests/c/build.sh
build soak "${plain[@]}"
fixture=$out/fixture
if [ -e target/fixtures/manifest ]; then
  fixture=$out/output
  target/release/examples/make-fixture recorded "$fixture" target/fixtures output
fi
exec "$out/soak" "$fixture" "${1:-1000}" "${2:-1024}"
