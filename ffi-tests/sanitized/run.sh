#!/usr/bin/env bash
# The storm with the library inside, both under one sanitizer of LLVM.
#   ffi-tests/sanitized/run.sh address|thread [SECONDS, default 8]
# address: rustc as it is here, with the standard library as it comes.
# thread: the standard library must be instrumented, too, so its source must be there: a toolchain with the component
#   rust-src, or on Debian the packages rustc-web, libstd-rust-web-dev and rust-web-src, whose compiler is taken then.
set -euo pipefail
cd "$(dirname "$0")"
kind=$1 seconds=${2:-8}
root=$(cd ../.. && pwd)
target=x86_64-unknown-linux-gnu
export CARGO_TARGET_DIR=$root/target/sanitized-$kind SANITIZER=$kind CC=${CC:-gcc}
# Sanitizers are unstable options of a stable compiler.
export RUSTC_BOOTSTRAP=1
# crossbeam and parking_lot avoid fences, which the thread sanitizer does not know, if they are told of it.
export RUSTFLAGS="-Zsanitizer=$kind --cfg tsan_enabled --cfg crossbeam_sanitize_thread -Cunsafe-allow-abi-mismatch=sanitizer"
cargo=(cargo build --release --target $target)

has_source() { [ -e "$("$1" --print sysroot)/lib/rustlib/src/rust/library/Cargo.lock" ]; }

# A copy, by links, of a sysroot without sanitizer runtimes, with those of the usual toolchain.
sysroot_with_runtimes() {
  local from to=$CARGO_TARGET_DIR/sysroot lib=lib/rustlib/$target/lib runtimes
  from=$("$1" --print sysroot)
  runtimes=$(rustc --print sysroot)/$lib
  rm -rf "$to"
  mkdir -p "$to/$lib" "$to/bin"
  ln -s "$from/lib/rustlib/src" "$to/lib/rustlib/src"
  for file in "$from/$lib"/* "$runtimes"/librustc-*_rt.*.a; do ln -sf "$file" "$to/$lib/"; done
  # Compilers look for a runtime by the name of their channel.
  for file in "$runtimes"/librustc-*_rt.*.a; do
    ln -sf "$file" "$to/$lib/$(sed 's/librustc-[a-z]*_rt/librustc_rt/' <<<"${file##*/}")"
  done
  printf '#!/bin/sh\nexec %s --sysroot="%s" "$@"\n' "$1" "$to" > "$to/bin/rustc"
  chmod +x "$to/bin/rustc"
  export RUSTC=$to/bin/rustc
}

if [ "$kind" = thread ]; then
  if ! has_source rustc; then
    debian=/usr/bin/rustc
    if ! { [ -x $debian ] && has_source $debian; }; then
      [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null ||
        { echo "the source of Rust's standard library is not here: rustup component add rust-src"; exit 2; }
      { apt-get update -qq && apt-get install -qq -y --no-install-recommends rustc-web libstd-rust-web-dev rust-web-src; } >/dev/null
    fi
    sysroot_with_runtimes $debian
  fi
  cargo+=(-Zbuild-std)
fi
"${cargo[@]}" --locked
program=$CARGO_TARGET_DIR/$target/release/sanitized

fixture=$root/target/c-programs/small
if [ ! -e "$fixture/proof" ]; then
  (cd ../.. && env -u RUSTFLAGS -u RUSTC -u CARGO_TARGET_DIR cargo run --release --locked -q --example make-fixture -- circuit "$fixture" 5)
fi
export TSAN_OPTIONS="halt_on_error=1 exitcode=99 suppressions=$PWD/tsan.supp"
export ASAN_OPTIONS="detect_leaks=1 exitcode=99 detect_stack_use_after_return=1"
case $kind in
  thread) wanted='ThreadSanitizer: data race' ;;
  *) wanted='AddressSanitizer: heap-use-after-free' ;;
esac
report=$("$program" canary 2>&1) && { echo "canary: not found"; exit 1; }
grep -q "$wanted" <<<"$report" || { echo "canary: no \"$wanted\" in"; echo "$report"; exit 1; }
echo "canary: found"
timeout 600 "$program" "$fixture" "$seconds" 3
