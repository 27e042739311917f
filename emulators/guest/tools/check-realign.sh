#!/usr/bin/env bash
# Finds by disassembly the functions of the images of realign/ that copy their return address before the counting
# function is called (push of the word in front of what the argument pointer shows: -4(%reg) or -8(%reg)), and compares
# them with realign/expected/<variant>.missed: there the tracer misses the exit. Exit 1 on any difference.
#
#   check-realign.sh [DIR]    the committed images, or those that build.sh --realign DIR made
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
  echo "check-realign.sh: $*" >&2
  exit 2
}
# shellcheck source=variants.sh
source variants.sh

images=${1-realign/images}
[[ -n $(find "$images" -name 'realign-*.elf') ]] || fail "no realign-*.elf in $images: run build.sh --realign $images"

status=0
for variant in "${REALIGN[@]}"; do
  describe "$variant"
  tools=${compiler%gcc}
  if [[ ! -f $images/realign-$variant.elf ]]; then
    echo "skipped: not built: $images/realign-$variant.elf"
    continue
  fi
  if ! command -v "${tools}objdump" > /dev/null; then
    echo "skipped: ${tools}objdump not installed: $variant"
    continue
  fi
  # with -mfentry the counting function is called before the copy is made: a copy behind the call does no harm
  if diff "realign/expected/$variant.missed" <(
    "${tools}objdump" -d "$images/realign-$variant.elf" | awk -v counting="$counting" '
    /^[0-9a-f]+ <.*>:$/ { name = $2; gsub(/[<>:]/, "", name); counted = 0 }
    index($0, "<" counting ">") && /call/ { counted = 1 }
    /push +-0x[48]\(%/ && !counted { print name }' | sort
  ); then
    echo "same: $variant: $(wc -l < "realign/expected/$variant.missed") functions miss their exit"
  else
    status=1
  fi
done
exit $status
