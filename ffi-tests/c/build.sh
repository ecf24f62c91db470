# Sourced: what the programs in C need. Sets $out (a directory) and builds the library and the fixtures small (2^5 rows)
# and fixture (2^10 rows) in it. `build NAME FLAGS...` compiles one program.
# With the feature of the command, so that `make` has built it already.
cargo build --release --locked --features cli --lib --example make-fixture
out=target/c-programs
mkdir -p "$out"
# Programs look for it by its SONAME.
ln -sfn "$PWD/target/release/libgroth16.so" "$out/libgroth16.so.1"
[ -e "$out/small/proof" ] || target/release/examples/make-fixture circuit "$out/small" 5
[ -e "$out/fixture/proof" ] || target/release/examples/make-fixture circuit "$out/fixture" 10
plain=(-std=c11 -O1 -g -Wall -Wextra -Werror -Wno-unused-function -Iinclude)
link=(-Ltarget/release -lgroth16 "-Wl,-rpath,$PWD/$out" -pthread)
build() { "${CC:-gcc}" "${@:2}" "ffi-tests/c/$1.c" -o "$out/$1" "${link[@]}"; }
