#!/usr/bin/env bash
# What a host in Rust has: the documentation without a warning, its program, and the example.
# FEATURES are those of the library that the program uses.
set -euo pipefail
cd "$(dirname "$0")/../.."
fail() { echo "rust: $*" >&2; exit 1; }
# With a target that is named, in a folder of its own: cargo keeps one record of sources for a library and its documentation, so that
# the one made after the other makes the other stale.
RUSTDOCFLAGS="-D warnings" GROTH16_NVCC=none cargo doc --locked --no-deps -p libgroth16 --features cli,cuda \
  --target "$(rustc -vV | sed -n 's/^host: //p')"
cargo test --locked --doc -p libgroth16 --features "${FEATURES:-cli}"
cargo build --release --locked --features libgroth16/cli -p libgroth16 --bin groth16 --example host
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
top=$PWD
cd "$work"
"$top/target/release/groth16" bench --quiet --rows 500 --jobs 1 --save . >/dev/null
"$top/target/release/groth16" setup --quiet --circuit circuit.r1cs --out key.params 2>/dev/null
"$top/target/release/examples/host" key.params circuit.r1cs witness.wtns 5 >out 2>err || fail "$(cat out err)"
[ "$(grep -c ': valid$' out)" = 5 ] || fail "$(cat out)"
grep -q '"ph"' trace.json || fail "no trace"
if "$top/target/release/examples/host" circuit.r1cs circuit.r1cs witness.wtns 2>err; then fail "a circuit is no key"; fi
grep -q 'bellman params' err || fail "$(cat err)"
echo "rust passed"
