#!/usr/bin/env bash
# The library's unit tests of everything that holds unsafe code or handles bytes of others, under ASan and LSan; the
# standard library comes as it is.
#   ffi-tests/asan/run.sh [--lanes] [FILTER..., default engine ffi formats gpu]
# The kernels for lanes (src/math/simd), which cost as much to compile as all the rest, are there with --lanes alone.
set -euo pipefail
cd "$(dirname "$0")/../.."
lanes="--cfg without_lanes "
if [ "${1:-}" = --lanes ]; then
  lanes=
  shift
fi
filters=("$@")
[ ${#filters[@]} -gt 0 ] || filters=(engine:: ffi:: formats:: gpu::)
# Target directory and profile are those of ffi-tests/sanitized, with --lanes the flags, too: then both share what they build.
export CARGO_TARGET_DIR=target/sanitized-address RUSTC_BOOTSTRAP=1
export RUSTFLAGS="${lanes}-Zsanitizer=address -Cunsafe-allow-abi-mismatch=sanitizer"
export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1
profile=()
for setting in opt-level=1 'lto="off"' codegen-units=4 'debug="line-tables-only"' debug-assertions=true overflow-checks=true; do
  profile+=(--config "profile.release.$setting")
done
exec cargo test --release "${profile[@]}" --locked --target x86_64-unknown-linux-gnu -p libgroth16 --lib -- "${filters[@]}"
