#!/usr/bin/env bash
# What can be shown of the GPU side where no GPU is: every kernel on the CPU against vectors of Python's integers, the
# kernels compiled, and the library built for GPUs, which loads without a driver, says that there is no device, and proves
# on the CPU. Fetches nvcc where none is installed.
set -euo pipefail
cd "$(dirname "$0")/../.."
make --no-print-directory -C cuda check
nvcc=$(cuda/toolkit.sh target/cuda/toolkit)
export GROTH16_NVCC=$nvcc GROTH16_CUDA_ARCHS=90
cargo build --release --locked --features cli,cuda
needed=$(readelf -d target/release/libgroth16.so | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
if grep -q cuda <<<"$needed"; then echo "the library needs: $needed" >&2; exit 1; fi
target/release/groth16 bench --quiet --rows 500 --jobs 2
features=libgroth16/cli,libgroth16/cuda
cargo test --release --locked -p ffi-tests --features $features --test tree
cargo test --release --locked -p ffi-tests --features $features --test hostile arguments
cargo test --locked -p libgroth16 --features cuda --lib gpu::
