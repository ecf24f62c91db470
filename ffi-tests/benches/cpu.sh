#!/usr/bin/env bash
# Measures the CPU kernels against their peers, on one thread and on two; see src/cpu.rs.
#   run.sh [FROM..TO] [NAME...]     sizes as logarithms, and substrings of the names to run
set -euo pipefail
cd "$(dirname "$0")"
sizes=${1:-12..18}
shift || true
options=(--sizes "$sizes")
if [ -x gnark-crypto ]; then options+=(--gnark ./gnark-crypto); fi
if [ -e spend.wtns ]; then options+=(--witness spend.wtns); fi
lscpu | grep -E 'Model name|^CPU\(s\)' || true
for threads in 1 2; do
  ./cpu-bench "${options[@]}" --threads $threads --svg "${OUT:-.}/cpu-$threads.svg" "$@"
done
