#!/usr/bin/env bash
# The engine's concurrent parts in every interleaving, by loom. A build of its own, since locks and atomics are others.
set -euo pipefail
cd "$(dirname "$0")/../.."
export CARGO_TARGET_DIR=target/loom RUSTFLAGS="${RUSTFLAGS-} --cfg loom --cfg without_lanes"
# A model that fails is shown by itself; the models are small, but switch threads millions of times.
exec cargo test --locked --profile loom -p libgroth16 --lib "$@" -- engine::tests::loom
