#!/usr/bin/env bash
# Holds today's library against each released ABI (include/released/MAJOR.MINOR, see include/ABI.md):
#   - abidiff finds nothing taken away, moved or changed since its dump, groth16.abi;
#   - its client, compiled with its header and everything that this declares, links to and runs with today's library.
# First a few made-up releases show that both would notice.
#
#   ffi-tests/abi-dump/run.sh               check LIBRARY (default target/release/libgroth16.so)
#   ffi-tests/abi-dump/run.sh dump FILE     write the dump of include/groth16.h
#
# The dump is that of the header, compiled: the library's own debug information has no types of C. That the header is what
# the library does is shown by other tests (include/groth16.layout, and the comparison with the sources).
set -euo pipefail
cd "$(dirname "$0")/../.."
here=ffi-tests/abi-dump
. ffi-tests/need.sh
need abidw abigail-tools
need abidiff abigail-tools
CC=${CC:-cc}
library=${LIBRARY:-target/release/libgroth16.so}
command=${GROTH16:-target/release/groth16}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "abi: $*" >&2; exit 1; }

# prototypes HEADER: those of its functions, one a line.
prototypes() {
  { echo "#include <groth16.h>"; } | "$CC" -std=c11 -E -P -I"$(dirname "$1")" -x c - |
    tr '\n' ' ' | sed 's/;/;\n/g; s/}/}\n/g' | grep '^ *__attribute__((visibility' | tr -s ' '
}
functions() { prototypes "$1" | grep -oE 'groth16_[a-z0-9_]+ ?\(' | tr -d ' (' | sort -u; }

# stub HEADER OUT: a library of the header's functions and, as variables, its enumerations, with debug information.
stub() {
  {
    echo "#include <groth16.h>"
    prototypes "$1" | sed 's/;$/ { __builtin_trap(); }/'
    grep -oE '^enum groth16_[a-z0-9_]+' "$1" | sed 's/^enum \(.*\)/extern enum \1 abi_\1; enum \1 abi_\1;/'
  } >"$2.c"
  "$CC" -std=c11 -g -O0 -w -fPIC -shared -Wl,-soname,libgroth16.so -I"$(dirname "$1")" -x c - -o "$2" <"$2.c"
}

dump() { # HEADER FILE
  stub "$1" "$work/dumped.so"
  abidw --no-corpus-path --no-comp-dir-path --no-show-locs "$work/dumped.so" --out-file "$2"
  [ "$(grep -c '<function-decl' "$2")" -ge "$(functions "$1" | wc -l)" ] || fail "the dump of $1 lacks functions"
}

# as_released RELEASED TODAY: today's header without the fields that were appended to structs with struct_size. (A
# suppression of abidiff for appended fields would hide every other change of such a struct, too.)
as_released() {
  awk '
    /^typedef struct groth16_[a-z0-9_]+ \{/ { name = $3; fields = 0; sized = 0 }
    /^\}/ { name = "" }
    name != "" && /;$/ { fields++; if (/ struct_size;/) sized = 1; if (NR == FNR) had[name] = fields }
    NR != FNR && !(name != "" && sized && name in had && fields > had[name])
  ' "$1" "$2"
}

# compare FOLDER: whether what that release has is in today's header as it was.
compare() {
  mkdir -p "$work/today"
  as_released "$1/groth16.h" include/groth16.h >"$work/today/groth16.h"
  stub "$work/today/groth16.h" "$work/today.so"
  abidiff --no-added-syms "$1/groth16.abi" "$work/today.so"
}

# client FOLDER: whether the client of that release builds against its header and runs with the library.
client() {
  {
    echo '#include <groth16.h>'
    echo 'typedef void (*any)(void); extern const any every[]; const any every[] = {'
    functions "$1/groth16.h" | sed 's/.*/  (any)&,/'
    echo '};'
  } >"$work/every.c"
  "$CC" -std=c99 -I"$1" "$1/client.c" "$work/every.c" "$work/lib/libgroth16.so" -o "$work/client" &&
    LD_LIBRARY_PATH="$work/lib" timeout 60 "$work/client" "$work/case/key.params" "$work/case/circuit.r1cs" 8 \
      "$work/case/witness.wtns" "$work/trace.json"
}

# A release as `make release-abi` would make it, of a header that sed changed.
made_up() { # NAME SED-SCRIPT
  mkdir -p "$work/$1"
  sed "$2" include/groth16.h >"$work/$1/groth16.h"
  [ -z "$2" ] || ! cmp -s include/groth16.h "$work/$1/groth16.h" || fail "$1: nothing was changed"
  cp "$here/client.c" "$work/$1/"
  dump "$work/$1/groth16.h" "$work/$1/groth16.abi"
}
holds() { # NAME SED-SCRIPT: today's library still does for that release
  made_up "$1" "$2"
  compare "$work/$1" >"$work/log" 2>&1 || { cat "$work/log"; fail "$1: abidiff complains"; }
}
breaks() { # NAME SED-SCRIPT: it does not, and abidiff says so
  made_up "$1" "$2"
  if compare "$work/$1" >"$work/log" 2>&1; then fail "$1: abidiff noticed nothing"; fi
}

if [ "${1-}" = dump ]; then
  dump include/groth16.h "$2"
  exit
fi

mkdir "$work/lib"
ln -s "$(realpath "$library")" "$work/lib/libgroth16.so"
ln -s libgroth16.so "$work/lib/libgroth16.so.1"
"$command" bench --quiet --rows 200 --jobs 1 --save "$work/case" >/dev/null
"$command" setup --quiet --circuit "$work/case/circuit.r1cs" --out "$work/case/key.params" 2>/dev/null

holds same ''
client "$work/same" || fail "today's own client"
# What was added since.
holds function_added '/^GROTH16_API uint32_t groth16_abi_version/d'
holds field_added '/^  void \*event_user;/d'
holds fields_added '/^  groth16_event_fn event;/d; /^  void \*event_user;/d; /^  uint64_t num_terms;/d'
holds constant_added '/GROTH16_PROOF_JSON = 2/d'
# What was taken away or changed since.
more='s/^GROTH16_API uint32_t groth16_abi_version(void);/&\nGROTH16_API uint32_t groth16_was_here(void);/'
breaks function_removed "$more"
if client "$work/function_removed" >"$work/log" 2>&1; then fail "function_removed: its client was linked"; fi
grep -q groth16_was_here "$work/log" || { cat "$work/log"; fail "function_removed: its client failed for another reason"; }
breaks field_removed 's/^  void \*event_user;/&\n  void *was_here;/'
breaks field_inserted '/^  int32_t priority;/d'
breaks field_narrowed 's/^  int32_t priority;/  int64_t priority;/'
breaks field_widened 's/^  uint32_t num_devices;/  uint16_t num_devices;/'
breaks field_signed 's/^  int32_t priority;/  uint32_t priority;/'
breaks field_signed_beside_added '/^  void \*event_user;/d; s/^  int32_t priority;/  uint32_t priority;/'
breaks last_field_signed 's/^  uint64_t num_terms;/  int64_t num_terms;/'
breaks constant_renumbered 's/GROTH16_PROOF_JSON = 2/GROTH16_PROOF_JSON = 3/'
breaks constant_removed 's/  GROTH16_PROOF_JSON = 2,/&\n  GROTH16_PROOF_WAS_HERE = 3,/'
breaks argument_changed '/^size_t groth16_last_error/,/;/ s/size_t cap/uint32_t cap/'
breaks small_struct_grew '/^typedef struct groth16_scalars {/,/^}/ s/^  size_t count;//'
echo "made-up releases: each change was judged as include/ABI.md says"

releases=0
for released in include/released/*/; do
  [ -e "$released/groth16.abi" ] || continue
  compare "${released%/}" || fail "the ABI of ${released%/} was broken"
  client "${released%/}" || fail "the client of ${released%/} does not work with today's library"
  echo "${released%/}: holds"
  releases=$((releases + 1))
done
[ $releases -gt 0 ] || echo "no release yet: nothing to hold today's library against"
echo "abi passed"
