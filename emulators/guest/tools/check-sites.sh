#!/usr/bin/env bash
# Proves by disassembly what the trees take for granted, for every image:
#   - each function of a tree has one call site, in the form that gcc documents for the convention;
#   - nothing else of the image is instrumented;
#   - each TAIL_CALL of a tree is a jump, and no other call became one;
#   - __mcount_loc, where the convention has it, names exactly the call sites;
#   - no segment is writable and executable.
# Needs the binutils of the ISA; says "skipped" without them. Exit 1 on any difference.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/.."

declare -A counting=([x86_64-fentry]=__fentry__ [x86_64-mcount]=mcount [aarch64-mcount]=_mcount [riscv64-mcount]=_mcount)

work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
sed 's/ .*//' programs/*.counts | sort -u > "$work/names"
sed -n 's/^ *\([a-z0-9_]*\).* <tail \([a-z0-9_]*\).*/\2 \1/p' programs/*.tree | sort -u > "$work/tails"

# Addresses noted in __mcount_loc (64-bit, little-endian), one a line.
noted_sites() {
  "$1objcopy" -O binary --only-section=__mcount_loc "$2" "$work/loc"
  od -An -v -tx8 -w8 "$work/loc" | sed 's/^ *0*//' | sort
}

actual_sites() {
  "$1objdump" -d "$2" | sed -n "s/^ *\([0-9a-f]*\):.*<$3>\$/\1/p" | sort
}

status=0
while read -r variant; do
  prefix=${variant%-*}-linux-gnu-
  image=images/zoo-$variant.elf
  if ! command -v "${prefix}objdump" > /dev/null; then
    echo "skipped: ${prefix}objdump not installed: $image"
    continue
  fi
  "${prefix}objdump" -d "$image" | awk -v variant="$variant" -v counting="${counting[$variant]}" \
    -v names="$work/names" -v tails="$work/tails" -f tools/check-sites.awk || status=1
  if [[ $variant == x86_64-* ]] &&
    ! diff <(noted_sites "$prefix" "$image") <(actual_sites "$prefix" "$image" "${counting[$variant]}"); then
    echo "differs: $variant: __mcount_loc does not name the call sites"
    status=1
  fi
  if "${prefix}readelf" -lW "$image" | grep -E '^ *LOAD.* RWE '; then
    echo "differs: $variant: a segment is writable and executable"
    status=1
  fi
done < <(./build.sh --list)
exit $status
