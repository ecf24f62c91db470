#!/usr/bin/env bash
# C++ hosts as users build them: by CMake against an installed tree whose prefix has a space, without the source tree.
#   ffi-tests/cpp/run.sh [PREFIX]      an installed tree; without it `make install` makes one
# CXX names the compiler. Sapling Outputs are proved where target/fixtures has them (`make fixtures`).
set -euo pipefail
cd "$(dirname "$0")/../.."
top=$PWD
fail() { echo "cpp: $*" >&2; exit 1; }
. ffi-tests/need.sh
need cmake cmake
need pkg-config pkg-config
compiler=${CXX:-c++}
has_openssl() { echo '#include <openssl/sha.h>' | "$compiler" -x c++ -E - >/dev/null 2>&1; }
if ! has_openssl && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  { apt-get update -qq && apt-get install -qq -y --no-install-recommends libssl-dev; } >/dev/null || true
fi
has_openssl || echo "openssl's headers are not here: not tested beside -lcrypto"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Moved after the install, which both packages must survive.
if [ $# -gt 0 ]; then
  mkdir -p "$work/odd place"
  cp -a "$1" "$work/odd place/moved tree"
else
  make --no-print-directory install DESTDIR="$work/a stage" PREFIX="/opt/some where" LIBDIR=lib
  mkdir -p "$work/odd place"
  mv "$work/a stage/opt/some where" "$work/odd place/moved tree"
fi
prefix="$work/odd place/moved tree"
libdir=$(dirname "$(find "$prefix" -name groth16.pc)")/..
libdir=$(cd "$libdir" && pwd)
groth16="$prefix/bin/groth16"
cp -r cmake/consumer "$work/consumer"
cp -r ffi-tests/cpp "$work/cpp"
cd "$work"
generator=(-G "Unix Makefiles")
if command -v ninja >/dev/null; then generator=(-G Ninja); fi
configure() { # BUILD SOURCE ARGUMENTS...
  cmake "${generator[@]}" -S "$2" -B "$1" -DCMAKE_CXX_COMPILER="$compiler" "-DCMAKE_PREFIX_PATH=$prefix" "${@:3}" >"$1.log" 2>&1
}
targets=() # all
build() { # BUILD SOURCE ARGUMENTS...
  configure "$@" || { cat "$1.log"; fail "$1 was not configured"; }
  cmake --build "$1" -j "$(nproc)" ${targets[@]+--target "${targets[@]}"} >"$1.log" 2>&1 || { cat "$1.log"; fail "$1 was not built"; }
}

# Every name of the C header is used by that of C++: what is added to the one is added to the other.
names=$(sed -e '/^#define/d' "$prefix/include/groth16.h" |
  grep -oE '\b(GROTH16_[A-Z0-9_]+ = |groth16_[a-z0-9_]+\()' | grep -oE '\w+' | sort -u)
[ "$(wc -l <<<"$names")" -gt 60 ] || fail "the names of groth16.h were not found"
for name in $names; do
  grep -qw "$name" "$prefix/include/groth16.hpp" || fail "groth16.hpp does not use $name"
done
fields=$(awk '/^typedef struct groth16_.*(_options|_progress|_matrix|_bits) \{/ { p = 1 } /^\}/ { p = 0 }
  p && /;$/ { sub(/;$/, ""); print $NF }' "$prefix/include/groth16.h" | tr -d '*' | sort -u)
for field in $fields; do
  case $field in struct_size|reserved) continue ;; esac
  grep -qw "$field" "$prefix/include/groth16.hpp" || fail "groth16.hpp does not use the field $field"
done

# Without a warning, in the newest standard too, with and without exceptions; what is built below is C++17 and C++20.
compilers=("$compiler")
if command -v clang++ >/dev/null; then compilers+=(clang++); fi
warnings=(-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wundef -Wold-style-cast -Wnon-virtual-dtor -Werror)
check_syntax() { # COMPILER STANDARD FILE FLAGS...
  "$1" "-std=$2" -fsyntax-only "${warnings[@]}" "-I$prefix/include" "${@:4}" "cpp/$3" || fail "$*"
}
for cxx in "${compilers[@]}"; do
  check_syntax "$cxx" c++2b tests.cpp &
  check_syntax "$cxx" c++20 results.cpp -DGROTH16_NO_EXCEPTIONS
  [ "$cxx" = "$compiler" ] || check_syntax "$cxx" c++17 results.cpp -fno-exceptions -fno-rtti # that one is built below
  wait $! || exit 1
  echo "no warnings: $("$cxx" --version | head -n 1)"
done

# A small circuit, made by the installed command.
"$groth16" bench --quiet --rows 200 --jobs 1 --save case >/dev/null
"$groth16" setup --quiet --circuit case/circuit.r1cs --out case/key.params 2>/dev/null
small=(case/key.params case/circuit.r1cs 8 case/witness.wtns)

# The worker, shared and static, each proof verified by the installed command.
prove() { # NAME WORKER KEY CIRCUIT NUM_INPUTS WITNESS...
  local name=$1 lines=0 word file hex rest
  "${@:2}" >"$name.out" 2>"$name.err" || { cat "$name.err"; fail "$name: no proof"; }
  while read -r word file hex rest; do
    [ "$word" = proof ] || continue
    printf '%b' "$(sed 's/../\\x&/g' <<<"$hex")" >proof.bin
    [ "$("$groth16" verify --key "$3" --public "$file" --proof proof.bin)" = valid ] || fail "$name: a wrong proof"
    lines=$((lines + 1))
  done <"$name.out"
  [ $lines = $(($# - 5)) ] || fail "$name: $lines proofs of $(($# - 5))"
  echo "$name: $lines valid proofs"
}
for static in OFF ON; do
  build "worker-$static" consumer -DGROTH16_STATIC=$static -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror"
  worker="worker-$static/worker"
  needed=$(readelf -d "$worker" | grep -c 'NEEDED.*libgroth16\.so\.1' || true)
  [ "$needed" = "$([ $static = ON ] && echo 0 || echo 1)" ] || fail "$worker: $needed libgroth16.so.1 among what it needs"
  prove "small, static $static" "$worker" "${small[@]}" case/witness.wtns
  if [ -e "$top/target/fixtures/manifest" ]; then
    ln -sfn "$top/target/fixtures" fixtures
    prove "Sapling Outputs, static $static" "$worker" fixtures/output.params fixtures/output.r1cs 6 fixtures/output-[0-1].wtns
  fi
done
# A wrong witness is told, the others are proved.
{ head -c -1 case/witness.wtns; printf '\001'; } >case/wrong.wtns
"$worker" "${small[@]}" case/wrong.wtns case/witness.wtns >out 2>err && fail "a wrong witness was not told"
[ "$(wc -l <out)" = 2 ] && grep -q 'wrong.wtns' err || fail "the worker with a wrong witness: $(cat out err)"
# On a terminal the progress is one line.
if command -v script >/dev/null; then
  script -qec "worker-OFF/worker ${small[*]}" /dev/null </dev/null >terminal.out
  grep -q $'\r\033\\[K.*of 1 proofs' terminal.out || fail "no progress on a terminal"
fi

# pkg-config, for a prefix with spaces.
export PKG_CONFIG_PATH="$libdir/pkgconfig"
pkg-config --validate groth16
eval "\"$compiler\" -std=c++17 -c consumer/worker.cpp -o worker.o $(pkg-config --cflags groth16)"
eval "\"$compiler\" worker.o -o by-pkg-config $(pkg-config --libs groth16)"
LD_LIBRARY_PATH=$libdir prove pkg-config ./by-pkg-config "${small[@]}"
eval "\"$compiler\" worker.o -o by-pkg-config \"$libdir/libgroth16.a\" $(pkg-config --static --libs-only-l groth16 | sed 's/-lgroth16//')"
prove "pkg-config, static" ./by-pkg-config "${small[@]}"

# The header's tests, beside OpenSSL in front and behind, then under the sanitizers.
run_tests() { # BUILD
  local program number=0
  for program in "$1"/{one,two}_*; do
    [ -x "$program" ] || continue
    "$program" "${small[@]}" trace.json >/dev/null || fail "$program"
    number=$((number + 1))
  done
  [ $number -ge 2 ] || fail "$1: only $number programs"
  echo "$1: $number programs passed"
}
build tests cpp
run_tests tests
targets=(one_shared one_static)
build tests-sanitized cpp -DSANITIZE=ON
nm tests-sanitized/one_shared | grep __asan_init >/dev/null || fail "the sanitizers are not on"
ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:exitcode=99 UBSAN_OPTIONS=print_stacktrace=1 run_tests tests-sanitized

# What find_package answers.
version=$(pkg-config --modversion groth16)
asked() { # fails|finds WHAT PATTERN: `find_package(groth16 WHAT)`
  mkdir -p "asked"
  printf 'cmake_minimum_required(VERSION 3.13)\nproject(asked NONE)\nfind_package(groth16 %s)\nfind_package(groth16 %s)\n%s\n' "$2" "$2" \
    'message(STATUS "found ${groth16_FOUND} ${groth16_VERSION} abi ${groth16_ABI_VERSION}")' >asked/CMakeLists.txt
  if configure asked-build asked "-Dgroth16_DIR=$libdir/cmake/groth16"; then got=finds; else got=fails; fi
  [ $got = "$1" ] && tr -s ' \n' ' ' <asked-build.log | grep -E "$3" >/dev/null || { cat asked-build.log; fail "find_package(groth16 $2)"; }
}
asked finds "CONFIG REQUIRED" "found (1|TRUE) $version abi 1\.[0-9]"
asked finds "$version EXACT CONFIG REQUIRED" 'found (1|TRUE)'
asked finds "0.1 CONFIG REQUIRED" 'found (1|TRUE)'
asked finds "0.1...<99 CONFIG REQUIRED" 'found (1|TRUE)'
asked finds "0.1 CONFIG REQUIRED COMPONENTS shared static OPTIONAL_COMPONENTS other" 'found (1|TRUE)'
asked fails "0.0.1...<$version CONFIG REQUIRED" "version: $version"
asked fails "0.0.1...0.0.9 CONFIG REQUIRED" "version: $version"
asked fails "0.0.9 CONFIG REQUIRED" "version: $version"
asked fails "99 CONFIG REQUIRED" "version: $version"
asked fails "0.1 CONFIG REQUIRED COMPONENTS gpu" "no component 'gpu', only: shared, static"
asked finds "0.1 CONFIG COMPONENTS gpu" 'found (0|FALSE)'
rm "$libdir/libgroth16.a"
asked finds "0.1 CONFIG REQUIRED" 'found (1|TRUE)'
asked fails "0.1 CONFIG REQUIRED COMPONENTS static" 'There is no .*libgroth16\.a'
rm "$libdir"/libgroth16.so*
asked fails "0.1 CONFIG REQUIRED" 'There is no library in'
echo "find_package: as it should"
echo "cpp passed"
