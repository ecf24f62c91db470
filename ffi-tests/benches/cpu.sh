#!/usr/bin/env bash
# Measures the CPU kernels against their peers, on one thread and on two, then whole proofs against bellman; see src/cpu.rs and
# src/sapling.rs.
#   run.sh [FROM..TO] [NAME...]     sizes as logarithms, and substrings of the names to run
#   run.sh sapling                  the whole proofs alone
#   run.sh tuning [OPTION...]       widths of windows, what endomorphisms could give, skewed scalars: see src/tuning.rs
set -euo pipefail
usage() { sed -n '2,6s/^# \?//p' "$0"; }
case "${1:-}" in -h | --help) usage; exit ;; -*) usage >&2; exit 2 ;; esac
cd "$(dirname "$0")"
# What goes to the folder for temporary files is removed however this ends.
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
whole_proofs() {
  echo "whole proofs of Sapling's circuits against bellman, some minutes:"
  for threads in 2 1; do ./sapling-bench --library ./libgroth16.so --threads $threads; done
}
if [ "${1:-}" = sapling ]; then whole_proofs; exit; fi
if [ "${1:-}" = tuning ]; then ./tuning-bench "${@:2}"; exit; fi
sizes=${1:-12..18}
shift || true
options=(--sizes "$sizes")
if [ -x gnark-crypto ]; then options+=(--gnark ./gnark-crypto); fi
if [ -e spend.wtns ]; then options+=(--witness spend.wtns); fi
lscpu | grep -E 'Model name|^CPU\(s\)' || true
for threads in 1 2; do
  ./cpu-bench "${options[@]}" --threads $threads --svg "${OUT:-.}/cpu-$threads.svg" "$@"
done
if [ $# = 0 ]; then whole_proofs; fi
