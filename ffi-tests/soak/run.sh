#!/usr/bin/env bash
# Memory and file handles do not grow over many proofs: ffi-tests/c/soak.c.
#   ffi-tests/soak/run.sh [PROOFS, default 1000] [KIB of growth that is allowed, default 4096]
set -euo pipefail
cd "$(dirname "$0")/../.."
. ffi-tests/c/build.sh
build soak "${plain[@]}"
exec "$out/soak" "$out/fixture" "${1:-1000}" "${2:-4096}"
