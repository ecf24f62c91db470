#!/usr/bin/env bash
# No copy of a secret stays in the process after a job is freed: ffi-tests/c/secrets.c.
set -euo pipefail
cd "$(dirname "$0")/../.."
. ffi-tests/c/build.sh
build secrets "${plain[@]}"
"$out/secrets" "$out/small"
exec "$out/secrets" "$out/fixture"
