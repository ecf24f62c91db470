#!/usr/bin/env bash
# run.sh [quick]: tests and measures on this machine's first GPU, from a folder that `make gpu-pack` made; needs a driver alone.
# compute-sanitizer is used where it is there; `quick` leaves it and the largest sizes out. Ends with a summary line.
set -uo pipefail
cd "$(dirname "$0")"
passed=0 failed=0
step() {
  echo "== $*"
  if "$@"; then passed=$((passed + 1)); else echo "== exit code $?"; failed=$((failed + 1)); fi
}
# A process that is killed in mid-proof leaves the device as it was.
killed() {
  ./groth16 bench --quiet --backend gpu --partition --rows 2^20 --jobs 10000 >/dev/null &
  local process=$!
  sleep 8
  kill -9 "$process"
  wait "$process"
  ./groth16 bench --quiet --backend gpu --rows 2^12 --jobs 3
}
if [ "${1:-}" = quick ]; then
  step kernels/run.sh
  step ./gpu-test 16
else
  step kernels/run.sh full
  step ./gpu-test 24 --long
  CUDA_FORCE_PTX_JIT=1 step ./gpu-test 12
  step killed
  if command -v compute-sanitizer >/dev/null; then
    for tool in memcheck racecheck initcheck synccheck; do
      step compute-sanitizer --tool "$tool" --error-exitcode 3 ./gpu-test 7 --no-fault
    done
  fi
  step ./bench.sh ./groth16 bench
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
