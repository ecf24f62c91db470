#!/usr/bin/env bash
# Programs in C against the built shared object, under ASan, UBSan and LSan.
#   ffi-tests/c/run.sh [SECONDS of the storm, default 8]
# The programs are instrumented, the library is not: heap faults at its borders, leaks of its allocations and the
# programs' own faults are found here, faults inside it by ffi-tests/asan.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-8}
. ffi-tests/c/build.sh
checked=("${plain[@]}" -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
for program in storm misuse canary; do build $program "${checked[@]}" & done
build hostile "${plain[@]}"
wait

export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:exitcode=99:detect_stack_use_after_return=1
# Absurd sizes must come back as a status.
ASAN_OPTIONS+=:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1

# A sanitizer that is not on finds nothing.
canary() {
  local report
  report=$("$out/canary" "$out/small" "$1" 2>&1) && { echo "canary $1: not found"; exit 1; }
  grep -q "$2" <<<"$report" || { echo "canary $1: no \"$2\" in"; echo "$report"; exit 1; }
  echo "canary $1: found"
}
canary overflow 'AddressSanitizer: heap-buffer-overflow'
canary undefined 'signed integer overflow'
canary leak 'LeakSanitizer: detected memory leaks'
canary leak-key 'LeakSanitizer: detected memory leaks'

timed() { local begin=$SECONDS; timeout 300 "$@"; echo "  $((SECONDS - begin)) s"; }
timed "$out/misuse" "$out/small" 200
(ulimit -v $((1 << 20)); timed "$out/hostile" "$out/small")
timed "$out/storm" "$out/small" "$seconds" 1
timed "$out/storm" "$out/fixture" "$seconds" 2
