#!/usr/bin/env bash
# The library's unit tests of everything that holds unsafe code or handles bytes of others, under ASan and LSan; the
# standard library comes as it is.
#   ffi-tests/asan/run.sh [FILTER..., default engine ffi formats gpu]
set -euo pipefail
cd "$(dirname "$0")/../.."
filters=("$@")
[ ${#filters[@]} -gt 0 ] || filters=(engine:: ffi:: formats:: gpu::)
export CARGO_TARGET_DIR=target/asan RUSTC_BOOTSTRAP=1
export RUSTFLAGS="-Zsanitizer=address -Cunsafe-allow-abi-mismatch=sanitizer"
export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1
exec cargo test --locked --target x86_64-unknown-linux-gnu -p libgroth16 --lib -- "${filters[@]}"
