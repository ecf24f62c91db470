#!/usr/bin/env bash
# bench.sh COMMAND OUT [LOG...]: whole proofs on this machine's GPU: partitions of 2^LOG rows (default 18 20 22 24), split and
# monolithic, with one slot and two, on two GPUs where there are, and Sapling's circuits where their files are in the folder FIXTURES.
# Pictures, traces and tables go to the folder OUT; the lines RATIO compare with the published figures of shared/PEERS.md, measured on an H200.
set -euo pipefail
command=$1 out=$2
shift 2
[ $# -gt 0 ] || set -- 18 20 22 24
mkdir -p "$out"
# Milliseconds a partition of supraseal-c2 in its best mode.
declare -A peer=([18]=61.2 [20]=90.9 [22]=236 [24]=825)

# measure NAME OPTIONS...: prints the table; the last line of it is the kernels' rate.
measure() {
  local name=$1
  shift
  echo "== $name"
  "$command" bench pipeline --device gpu --svg "$out/$name.svg" --trace "$out/$name.json" "$@" | tee "$out/$name.txt"
}
rate() { awk '$1 == "device" { for (i = 1; i < NF; i++) if ($(i + 1) ~ /^a$/) print $i }' "$out/$1.txt" | head -n 1; }

throughput() { awk '$1 == "throughput" { print $2 }' "$out/$1.txt"; }

for log in "$@"; do
  work=(--partition --rows "2^$log" --jobs 10 --waiting 4)
  for slots in 1 2; do
    measure "partition-$log-split-$slots" "${work[@]}" --mode split --slots "$slots" --g2-on auto
  done
  measure "partition-$log-split-2-cpu" "${work[@]}" --mode split --slots 2 --g2-on cpu
  measure "partition-$log-monolithic" "${work[@]}" --mode monolithic
  measure "partition-$log-split-2-pageable" "${work[@]}" --mode split --slots 2 --g2-on auto --pageable-rows
  awk -v split_rate="$(throughput "partition-$log-split-2")" -v whole="$(throughput "partition-$log-monolithic")" -v log_size="$log" \
    'BEGIN { printf "RATIO partition_2^%s_split_vs_monolithic %.2f\n", log_size, split_rate / whole }'
  awk -v rate="$(rate "partition-$log-split-2")" -v peer="${peer[$log]:-0}" -v log_size="$log" 'BEGIN {
    printf "partition of 2^%s: %.2f ms\n", log_size, 1000 / rate
    if (peer > 0) printf "RATIO partition_2^%s_vs_supraseal_c2_published %.2f\n", log_size, peer * rate / 1000 }'
done
if [ "$(nvidia-smi -L 2>/dev/null | wc -l)" -gt 1 ]; then
  for devices in 1 2; do
    measure "devices-$devices" --devices "$devices" --partition --rows 2^22 --jobs $((24 * devices)) --waiting $((4 * devices)) \
      --mode split --slots 2 --g2-on auto
  done
  awk -v one="$(throughput devices-1)" -v two="$(throughput devices-2)" \
    'BEGIN { printf "RATIO partition_2^22_two_devices_vs_one %.3f\n", two / one }'
fi
if [ -n "${FIXTURES:-}" ]; then
  for circuit in spend output; do
    files=(--key "$FIXTURES/$circuit.params" --circuit "$FIXTURES/$circuit.r1cs" --witness "$FIXTURES/$circuit-0.wtns")
    measure "$circuit-alone" "${files[@]}" --mode split --jobs 10 --waiting 1 --slots 1
    measure "$circuit-queued" "${files[@]}" --mode split --jobs 100 --waiting 100
  done
fi
