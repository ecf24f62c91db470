#!/usr/bin/env bash
# The programs that README.md shows, compiled as they stand there and run, against an installed tree.
#   ffi-tests/readme/run.sh [PREFIX]      without it `make install` makes one
# The C text is a function, which ffi-tests/install/host.c calls. Each other program takes KEY CIRCUIT NUM_INPUTS WITNESS PROOF.
set -euo pipefail
cd "$(dirname "$0")/../.."
top=$PWD
. ffi-tests/need.sh
need cmake cmake
need pkg-config pkg-config
fail() { echo "readme: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ $# -gt 0 ]; then
  prefix=$(cd "$1" && pwd)
else
  prefix=$work/installed
  make --no-print-directory install DESTDIR= PREFIX="$prefix" LIBDIR=lib
fi
libdir=$(dirname "$(dirname "$(find "$prefix" -name groth16.pc)")")
groth16="$prefix/bin/groth16"
export PKG_CONFIG_PATH="$libdir/pkgconfig"

# block LANGUAGE FILE: the one block of that language; fails if there is none.
block() {
  sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" README.md | sed '/^```/d' >"$2"
  [ -s "$2" ]
}
"$groth16" bench --quiet --rows 200 --jobs 1 --save "$work/case" >/dev/null
"$groth16" setup --quiet --circuit "$work/case/circuit.r1cs" --out "$work/case/key.params" 2>/dev/null
# check NAME: NAME.proof is right
check() {
  [ "$("$groth16" verify --key "$work/case/key.params" --public "$work/case/witness.wtns" --proof "$work/$1.proof")" = valid ] ||
    fail "$1: a wrong proof"
  echo "$1: compiles, and its proof is valid"
}
files=("$work/case/key.params" "$work/case/circuit.r1cs")

block c "$work/prove.c" || fail "no C program"
eval "\"${CC:-cc}\" -std=c99 -Wall -Wextra -Werror -pedantic -o \"$work/c\" \"$work/prove.c\" ffi-tests/install/host.c \
  $(pkg-config --cflags --libs groth16)"
LD_LIBRARY_PATH=$libdir "$work/c" "${files[@]}" "$work/case/witness.wtns" 8 "$work/C.proof" || fail "C: no proof"
check C

mkdir "$work/cpp"
block cpp "$work/cpp/prove.cpp" || fail "no C++ program"
[ "$(wc -l <"$work/cpp/prove.cpp")" -lt 45 ] || fail "the C++ program is long"
block cmake "$work/cpp/CMakeLists.txt" || fail "no CMake project"
for library in groth16 groth16_static; do
  sed -i "s/groth16::groth16[a-z_]*)/groth16::$library)/" "$work/cpp/CMakeLists.txt"
  { cmake -S "$work/cpp" -B "$work/build" "-Dgroth16_DIR=$libdir/cmake/groth16" -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror" &&
    cmake --build "$work/build"; } >"$work/log" 2>&1 || { cat "$work/log"; fail "C++: not built"; }
  rm -f "$work/C++.proof"
  [ "$("$work/build/prove" "${files[@]}" 8 "$work/case/witness.wtns" "$work/C++.proof")" = valid ] || fail "C++: no proof"
  check C++
done
if "$work/build/prove" /no/such/key "${files[1]}" 8 "$work/case/witness.wtns" "$work/none" 2>"$work/log"; then fail "C++: no error"; fi
grep -q /no/such/key "$work/log" || fail "C++: the error does not name the file: $(cat "$work/log")"
# The block in Go is examples/shortest, which ffi-tests/go/run.sh compares, builds and runs.
echo "readme passed"
