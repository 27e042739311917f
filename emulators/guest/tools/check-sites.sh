#!/usr/bin/env bash
# Proves by disassembly what the trees take for granted, for every committed image:
#   - each function of a tree has one call site, in the form that gcc documents for the convention;
#   - nothing else of the image is instrumented;
#   - each TAIL_CALL of a tree is a jump, and no other call became one;
#   - __mcount_loc or __patchable_function_entries, where the variant has it, names exactly the call sites;
#   - no segment is writable and executable, nothing lies above 2 GiB;
#   - mips: no run of more than 300 instructions without a branch (Unicorn's limit is about 360).
#
#   check-sites.sh DIR         the prepared images of DIR (build.sh --prepared DIR) instead
#   check-sites.sh VARIANT...  these committed images
# Needs the binutils of the ISA; says "skipped" without them. Exit 1 on any difference.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
  echo "check-sites.sh: $*" >&2
  exit 2
}
# shellcheck source=variants.sh
source variants.sh
# shellcheck source=tools/site-forms.sh
source tools/site-forms.sh

images=images
variants=("${COMMITTED[@]}")
if [[ $# -gt 0 && ! -d $1 ]]; then
  for variant in "$@"; do
    [[ " ${COMMITTED[*]} " == *" $variant "* ]] || fail "no committed image of a variant $variant: see build.sh --list"
  done
  variants=("$@")
elif [[ $# -gt 0 ]]; then
  images=$1
  variants=("${PREPARED[@]}")
  [[ -n $(find "$images" -name 'zoo-*.elf') ]] || fail "no zoo-*.elf in $images: run build.sh --prepared $images"
fi

work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

# Addresses noted in a table of the image, one a line.
noted_sites() {
  local word=4 order=little
  "$tools"readelf -h "$image" | grep -q 'Class: *ELF64' && word=8
  "$tools"readelf -h "$image" | grep -q 'big endian' && order=big
  "$tools"objcopy -O binary --only-section="$sites" "$image" "$work/table"
  od -An -v "--endian=$order" "-tx$word" "-w$word" "$work/table" | sed 's/^ *0*//' | sort
}

# Addresses of the calls; s390x -pg notes the store in front of it.
actual_sites() {
  "$tools"objdump -d "$image" | sed -n "s/^ *\([0-9a-f]*\):.*<\.*$counting>\$/\1/p" |
    while read -r address; do
      if [[ $variant == s390x-mcount ]]; then printf '%x\n' $((16#$address - 6)); else echo "$address"; fi
    done | sort
}

# The operand of the calls through the GOT's entry of the counting function: the one that most indirect calls have.
operands() { "$tools"objdump -d "$image" | sed -n "$1" | sort | uniq -c | sort -rn | sed -n '1s/^ *[0-9]* //p'; }

got_operand() {
  case $variant in
    x86_64-mcount-got) operands 's/.*call  *\*0x[0-9a-f]*(%rip).*# \([0-9a-f]*\).*/# \1/p' ;;
    i386-mcount-got) operands 's/.*call  *\(\*-*0x[0-9a-f]*(%ebx)\).*/\1/p' ;;
  esac
}

status=0
for variant in "${variants[@]}"; do
  describe "$variant"
  image=$images/zoo-$variant.elf
  tools=${linker%gcc}
  if [[ ! -f $image && $images != images ]]; then
    echo "skipped: not built: $image"
    continue
  fi
  if ! command -v "${tools}objdump" > /dev/null; then
    echo "skipped: ${tools}objdump not installed: $image"
    continue
  fi
  # what this image has: all programs but those that the variant goes without
  for counts in programs/*.counts; do
    name=$(basename "$counts" .counts)
    [[ " ${without[*]-} " == *" $name "* ]] && continue
    sed 's/ .*//' "$counts" >> "$work/names.all"
    sed -n 's/^ *\([a-z0-9_]*\).* <tail \([a-z0-9_]*\).*/\2 \1/p' "programs/$name.tree" >> "$work/tails.all"
  done
  sort -u "$work/names.all" > "$work/names"
  sort -u "$work/tails.all" > "$work/tails"
  rm "$work/names.all" "$work/tails.all"
  noted=''
  if [[ $counting == '' || $convention == *-nop ]]; then
    noted=$work/noted
    noted_sites > "$noted"
  fi
  first=0
  [[ $variant =~ $FIRST ]] && first=1
  "${tools}objdump" -d "$image" | awk -v variant="$variant" -v counting="${counting:--}" \
    -v form="${FORM[$variant]//\\/\\\\}" -v first="$first" -v noted="$noted" -v got="$(got_operand)" -v names="$work/names" -v tails="$work/tails" \
    -f tools/check-sites.awk || status=1
  if [[ $sites == __mcount_loc && $noted == '' ]] && ! diff <(noted_sites) <(actual_sites); then
    echo "differs: $variant: $sites does not name the call sites"
    status=1
  fi
  if "${tools}readelf" -lW "$image" | grep -E '^ *LOAD.* RWE '; then
    echo "differs: $variant: a segment is writable and executable"
    status=1
  fi
  if "${tools}readelf" -lW "$image" | grep -E '^ *LOAD +0x[0-9a-f]+ 0x0*[89a-f][0-9a-f]{7} '; then
    echo "differs: $variant: a segment above 2 GiB"
    status=1
  fi
done
exit $status
