#!/usr/bin/env bash
# Whole proofs over the emulated driver with every kernel under AddressSanitizer: device memory is the sanitizer's, so a kernel that
# reads or writes beside what was allocated is seen. Takes minutes. asan.sh [LARGEST_LOG_SIZE, default 4]
set -euo pipefail
cd "$(dirname "$0")/../.."
make --no-print-directory -C cuda driver SANITIZE=address -j2
make --no-print-directory -C cuda check-msm SANITIZE=address,undefined -j2
GROTH16_NVCC=none cargo build --locked --features cuda --example gpu-test --target-dir target/emulated
# The library's own driver keeps what it opened, which is no leak.
export ASAN_OPTIONS=detect_leaks=0 G16_EMULATED_DEVICES=2 LD_LIBRARY_PATH=target/cuda/driveraddress
LD_PRELOAD=$(gcc -print-file-name=libasan.so) target/emulated/debug/examples/gpu-test "${1:-4}" --only proofs
LD_PRELOAD=$(gcc -print-file-name=libasan.so) target/emulated/debug/examples/gpu-test "${1:-4}" --only partition
