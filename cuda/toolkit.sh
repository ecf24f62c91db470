#!/usr/bin/env bash
# toolkit.sh [--find] DIR: prints the path of an nvcc of CUDA 13.0 or newer. One that is installed is taken; else PyPI's wheels
# of 13.0 are put into DIR (about 300 MB), which is left alone where it is complete; with --find nothing is fetched, and
# nothing printed where none is. Needs python3 with pip, and a host compiler later.
set -euo pipefail

find=no
if [ "${1:-}" = --find ]; then
  find=yes
  shift
fi
directory=${1:?usage: toolkit.sh [--find] DIRECTORY}

release() { "$1" --version 2>/dev/null | sed -n 's/.*release \([0-9]*\)\..*/\1/p'; }

for found in "${NVCC:-}" "$(command -v nvcc || true)" "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc"; do
  [ -n "$found" ] && [ -x "$found" ] || continue
  if [ "$(release "$found")" -ge 13 ] 2>/dev/null; then
    echo "$found"
    exit 0
  fi
done

case $directory in /*) ;; *) directory=$PWD/$directory ;; esac
root=$directory/nvidia/cu13
if [ ! -e "$root/complete" ]; then
  [ $find = no ] || exit 1
  mkdir -p "$directory"
  # One at a time; who waited finds it complete.
  if command -v flock >/dev/null; then
    exec 9>"$directory/lock"
    flock 9
  fi
fi
if [ ! -e "$root/complete" ]; then
  # Their patch numbers differ, so each is pinned to the minor release alone.
  python3 -m pip install --quiet --upgrade --no-deps --disable-pip-version-check --root-user-action=ignore \
    --target "$directory" 'nvidia-cuda-nvcc==13.0.*' 'nvidia-nvvm==13.0.*' 'nvidia-cuda-crt==13.0.*' \
    'nvidia-cuda-runtime==13.0.*' 'nvidia-cuda-cccl==13.0.*' >&2
  # The wheels put libraries into lib, where nvcc.profile looks for lib64.
  [ -e "$root/lib64" ] || ln -s lib "$root/lib64"
  [ "$(release "$root/bin/nvcc")" = 13 ] || { echo "the nvcc in $root does not run" >&2; exit 1; }
  touch "$root/complete"
fi
echo "$root/bin/nvcc"
