#!/usr/bin/env bash
# run.sh [full]: the tests and benches of this folder, on the machine's first GPU; needs a driver alone. `full` adds the largest
# sizes, the sanitizers, where compute-sanitizer is found, and the PTX that a newer device would compile.
set -uo pipefail
cd "$(dirname "$0")"
failed=0
step() {
  echo "== $*"
  "$@" || { echo "== exit code $?"; failed=1; }
}
others="r1cs split import fixed"
step ./gpu-msm-test vectors.bin 0 1 2 3 9 10 18 19 20 $others msm
if [ "${1:-}" = full ]; then
  step ./gpu-msm-test vectors.bin 24 27 r1cs:20 split:20 import:20 fixed:20 msm:18 msm:22 msm:24
  CUDA_FORCE_PTX_JIT=1 step ./gpu-msm-test vectors.bin 3 13 $others
  for tool in memcheck racecheck initcheck synccheck; do
    if command -v compute-sanitizer >/dev/null; then
      raw=() && [ "$tool" = initcheck ] && raw=(env G16_RAW_MEMORY=1)
      step "${raw[@]}" compute-sanitizer --tool "$tool" --error-exitcode 3 ./gpu-msm-test vectors.bin 0 3 12 brief $others msm
    fi
  done
fi
step ./gpu-bench
step ./gpu-msm-bench
step ./gpu-proof-bench
[ $failed = 0 ] && echo "all passed" || echo "SOMETHING FAILED"
exit $failed
