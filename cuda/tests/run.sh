#!/usr/bin/env bash
# run.sh [full]: the tests and the bench of this folder, on the machine's first GPU; needs a driver alone. `full` adds the
# sanitizers, where compute-sanitizer is found, and the PTX that a newer device would compile.
set -uo pipefail
cd "$(dirname "$0")"
failed=0
step() {
  echo "== $*"
  "$@" || { echo "== exit code $?"; failed=1; }
}
step ./gpu-test vectors.bin 0 1 2 3 9 10 18 19 20 24 27 msm msm:18 msm:20 msm:22 msm:24
if [ "${1:-}" = full ]; then
  CUDA_FORCE_PTX_JIT=1 step ./gpu-test vectors.bin 3 13
  for tool in memcheck racecheck initcheck synccheck; do
    if command -v compute-sanitizer >/dev/null; then
      step compute-sanitizer --tool "$tool" --error-exitcode 3 ./gpu-test vectors.bin 0 3 12 msm:11
    fi
  done
fi
step ./gpu-bench
step ./gpu-msm-bench
[ $failed = 0 ] && echo "all passed" || echo "SOMETHING FAILED"
exit $failed
