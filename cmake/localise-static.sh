#!/usr/bin/env bash
# Makes a static library that defines no global symbol but the listed ones, so that it links beside other libraries that
# carry blst or Rust's runtime:
#
#   localise-static.sh IN.a LIBRARY.so OUT.a      keeps the symbols that LIBRARY.so exports
#
# All objects that those need become one relocatable object, in which the other symbols are made local. LD, OBJCOPY, NM
# and AR name the tools (GNU binutils or, with LD=ld.lld, LLVM).
set -euo pipefail
in=$1 so=$2 out=$3
LD=${LD:-ld} OBJCOPY=${OBJCOPY:-objcopy} NM=${NM:-nm} AR=${AR:-ar}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$NM" -D --defined-only "$so" | awk '$2 ~ /^[TDBRV]$/ { sub(/@.*/, "", $3); print $3 }' | sort >"$work/keep"
[ -s "$work/keep" ] || { echo "localise-static: $so exports nothing" >&2; exit 1; }
# Groups are dissolved: a group whose name became local would no longer be merged with others of that name, as it must not.
mapfile -t roots < <(sed 's/^/--undefined=/' "$work/keep")
"$LD" -r --gc-sections --force-group-allocation "${roots[@]}" -o "$work/groth16.o" "$in"
# Bitcode of Rust's standard library, one after the other, is none; plugins of binutils choke on it.
"$OBJCOPY" --strip-debug --remove-section=.llvmbc --remove-section=.llvmcmd --keep-global-symbols="$work/keep" "$work/groth16.o"
rm -f "$out"
(cd "$work" && "$AR" rcs out.a groth16.o)
install -m 644 "$work/out.a" "$out"

# What is not kept must be gone from the global names: weak ones too.
"$NM" -g --defined-only "$out" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort >"$work/got"
diff "$work/keep" "$work/got" >&2 || { echo "localise-static: $out has other global symbols than $so exports" >&2; exit 1; }
