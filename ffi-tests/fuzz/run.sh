#!/usr/bin/env bash
# Fuzzes every parser, from seeds that make-fixture makes.
#   ffi-tests/fuzz/run.sh [SECONDS a target, default 5] [TARGET...]
# What was found stays in target/fuzz: corpus/TARGET, and the input of a crash in crashes/TARGET.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-5}
shift $(($# > 0))
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(bellman_params gnark_pk gnark_vk r1cs wtns proof vk csr)
work=$PWD/target/fuzz
if [ ! -e "$work/seeds/gnark_pk" ]; then
  cargo run --release --locked -q --features cli --example make-fixture -- seeds "$work/seeds"
fi

build() { (cd ffi-tests/fuzz && CARGO_TARGET_DIR=$work cargo build --release --locked --target x86_64-unknown-linux-gnu "$@"); }
programs=$work/x86_64-unknown-linux-gnu/release
# The flags of cargo-fuzz; sanitizer and coverage are unstable options of a stable compiler.
coverage="--cfg fuzzing --cfg without_lanes -Zsanitizer=address -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4"
coverage+=" -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
coverage+=" -Cllvm-args=-sanitizer-coverage-trace-compares -Cunsafe-allow-abi-mismatch=sanitizer"
(cd ffi-tests/fuzz && cargo metadata --locked --no-deps --format-version 1 >/dev/null)
if ! RUSTC_BOOTSTRAP=1 RUSTFLAGS="$coverage" build; then
  echo "libFuzzer cannot be built here: changed seeds without coverage instead"
  build --no-default-features
  exec "$programs/without-libfuzzer" "$work/seeds" "$seconds" "${targets[@]}"
fi
failed=0
for target in "${targets[@]}"; do
  mkdir -p "$work/corpus/$target" "$work/crashes/$target"
  # 2 GiB of memory and 5 s for one input: a parser that is led to more by a small file has a fault. Inputs may become
  # longer than their seeds from the start: many faults are in what stands behind the end.
  if "$programs/$target" -max_total_time="$seconds" -rss_limit_mb=2048 -malloc_limit_mb=1024 -timeout=5 -max_len=16384 \
    -len_control=0 -print_final_stats=1 -artifact_prefix="$work/crashes/$target/" "$work/corpus/$target" "$work/seeds/$target" \
    > "$work/$target.log" 2>&1; then
    echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$target.log") runs, coverage" \
      "$(grep -o 'cov: [0-9]*' "$work/$target.log" | tail -n 1)"
  else
    echo "$target: FAILED"
    tail -n 60 "$work/$target.log"
    failed=1
  fi
done
exit $failed
