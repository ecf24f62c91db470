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
# Where the driver shows no device there is a clear error within a second or so, and without being told a proof on the CPU.
hidden() {
  local value
  for value in "" -1 99; do
    if CUDA_VISIBLE_DEVICES=$value timeout 10 ./groth16 bench --quiet --backend gpu --rows 100 --jobs 1 2>hidden.log; then return 1; fi
    grep -qi "no .*GPU" hidden.log || { cat hidden.log; return 1; }
    CUDA_VISIBLE_DEVICES=$value timeout 60 ./groth16 bench --quiet --rows 100 --jobs 1 || return 1
  done
}
# Two processes on one device, each with all the memory that it finds.
beside() {
  ./groth16 bench --quiet --backend gpu --partition --rows 2^18 --jobs 200 >/dev/null &
  local first=$!
  ./groth16 bench --quiet --backend gpu --partition --rows 2^18 --jobs 200 >/dev/null &
  wait "$first" && wait $!
}
# What the tests of faults do over the emulated driver, on this machine's own: calls fail, memory runs out, a bit is wrong, and with two
# GPUs one is lost. With a partition's job under way, too: the other GPU takes over.
driver() {
  local folder path=${LD_LIBRARY_PATH:-}
  for folder in ${path//:/ } $(ldconfig -p | sed -n 's|.* => \(/.*\)/libcuda\.so\.1$|\1|p') /usr/lib/x86_64-linux-gnu /usr/lib64; do
    if [ -e "$folder/libcuda.so.1" ]; then realpath "$folder/libcuda.so.1"; return; fi
  done
  return 1
}
faulty() {
  local G16_DRIVER
  G16_DRIVER=$(driver) || return 1
  export G16_DRIVER
  LD_LIBRARY_PATH="$PWD/faulty" ./gpu-test 3 --step 7 || return 1
  [ "$(nvidia-smi -L | wc -l)" -gt 1 ] || return 0
  G16_FAULT=cuLaunchKernel,${LAUNCHES:-6000},1,719,1 LD_LIBRARY_PATH="$PWD/faulty" ./groth16 bench pipeline --device gpu --devices 2 \
    --partition --rows 2^22 --jobs 24 --waiting 8 --mode split --slots 2 --g2-on auto
}
if [ "${1:-}" = quick ]; then
  step kernels/run.sh
  step ./gpu-test 16
else
  step kernels/run.sh full
  step ./gpu-test 24 --long
  # Where nothing keeps what the driver compiles from PTX, that takes 40 s a context.
  CUDA_FORCE_PTX_JIT=1 step ./gpu-test 5 --no-fault --quick --only "proofs of 30 "
  step faulty
  step killed
  step hidden
  step beside
  if command -v compute-sanitizer >/dev/null; then
    for tool in memcheck racecheck initcheck synccheck; do
      step compute-sanitizer --tool "$tool" --error-exitcode 3 ./gpu-test 5 --no-fault --quick
    done
  fi
  step ./bench.sh ./groth16 bench
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
