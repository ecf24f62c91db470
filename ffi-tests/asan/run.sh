#!/usr/bin/env bash
# The library's unit tests of everything that holds unsafe code or handles bytes of others, under ASan and LSan; the
# standard library comes as it is.
#   ffi-tests/asan/run.sh [FILTER..., default engine ffi formats gpu]
set -euo pipefail
cd "$(dirname "$0")/../.."
filters=("$@")
[ ${#filters[@]} -gt 0 ] || filters=(engine:: ffi:: formats:: gpu::)
# Target directory, flags and profile are those of ffi-tests/sanitized: both share what they build.
export CARGO_TARGET_DIR=target/sanitized-address RUSTC_BOOTSTRAP=1
export RUSTFLAGS="--cfg without_lanes -Zsanitizer=address -Cunsafe-allow-abi-mismatch=sanitizer"
export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1
profile=()
for setting in opt-level=1 'lto="off"' codegen-units=4 'debug="line-tables-only"' debug-assertions=true overflow-checks=true; do
  profile+=(--config "profile.release.$setting")
done
exec cargo test --release "${profile[@]}" --locked --target x86_64-unknown-linux-gnu -p libgroth16 --lib -- "${filters[@]}"
