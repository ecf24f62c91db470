#!/usr/bin/env bash
# What can be shown of the GPU side where no GPU is: every kernel on the CPU against vectors of Python's integers; the kernels
# compiled; the library built for GPUs, which loads without a driver, says that there is no device, and proves on the CPU;
# and over a driver that runs the kernels on the CPU, whole proofs under every plan, and every kind of fault. Fetches nvcc where
# none is installed.
#   without.sh kernels                        the kernels on the CPU, the driver that runs them, nvcc
#   without.sh library [LARGEST_LOG_SIZE]     the library over it; sizes over that driver, default 4; from 10 on
#                                             every call fails once
#   without.sh [all [LARGEST_LOG_SIZE]]       both
# The library is built by the profile for tests: with overflow checks, and not in the way of what uses target/release.
# Its unit tests of src/gpu are among those of the others, in a build with the feature cuda and without kernels.
set -euo pipefail
cd "$(dirname "$0")/../.."
step() { echo "== $* (at $SECONDS s)"; "$@"; }

kernels() {
  step make --no-print-directory -C cuda check -j2
  step make --no-print-directory -C cuda check-msm -j2
  step make --no-print-directory -C cuda driver -j2
  step cuda/toolkit.sh target/cuda/toolkit
}

library() {
  local needed tests log=target/cuda/gpu-test.log features=libgroth16/cli,libgroth16/cuda
  local host=(cargo test --locked -p ffi-tests --features $features) driver=$PWD/target/cuda/driver
  step make --no-print-directory -C cuda driver -j2
  GROTH16_NVCC=$(cuda/toolkit.sh target/cuda/toolkit)
  export GROTH16_NVCC GROTH16_CUDA_ARCHS=90 GROTH16_CUDA_PTX=
  step cargo build --locked --features cli,cuda --lib --bins --example gpu-test
  needed=$(readelf -d target/debug/libgroth16.so | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  if grep -q cuda <<<"$needed"; then echo "the library needs: $needed" >&2; exit 1; fi
  step target/debug/groth16 bench --quiet --rows 500 --jobs 2
  # The longest, on one core for the most part: beside what compiles.
  step env LD_LIBRARY_PATH="$driver" G16_EMULATED_DEVICES=2 target/debug/examples/gpu-test "${1:-4}" >"$log" 2>&1 &
  tests=$!
  step env LD_LIBRARY_PATH="$driver" target/debug/groth16 bench --quiet --backend gpu --rows 100 --jobs 1
  # What puts faults before the driver of a real GPU, before the emulated one.
  step make --no-print-directory -C cuda faulty
  step env LD_LIBRARY_PATH="$PWD/target/cuda/faulty" G16_DRIVER="$driver/libcuda.so.1" target/debug/examples/gpu-test 1 \
    --only "a flipped bit"
  step "${host[@]}" --no-run --test tree --test hostile --test abi
  step "${host[@]}" --test tree
  step "${host[@]}" --test hostile arguments
  step env LD_LIBRARY_PATH="$driver" "${host[@]}" --test abi rows_in_buffers
  wait $tests || { cat "$log"; exit 1; }
  cat "$log"
  echo "(at $SECONDS s)"
}

case ${1:-all} in
  kernels) kernels ;;
  library) library "${@:2}" ;;
  all)
    kernels
    library "${@:2}"
    ;;
  *) echo "usage: $0 [kernels|library|all] [LARGEST_LOG_SIZE]" >&2; exit 2 ;;
esac
