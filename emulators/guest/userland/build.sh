#!/usr/bin/env bash
# Builds the static Linux programs of this folder for the tests of a user's own program.
#
#   build.sh DIR [VARIANT...]  DIR/<variant>, all programs in one (all.c), instrumented, for each compiler that is
#                              installed, and DIR/<isa>-counted, which counts its own calls (counting.c), with its
#                              functions in DIR/<isa>-counted.functions; what is missing is listed as skipped
#   build.sh --list            name the variants
#
# Compile with -pg, link WITHOUT -pg: the linker then takes the plain crt1.o and not gcrt1.o, so that no profiling
# timer (setitimer, SIGPROF) starts and no gmon.out is written at exit. glibc's own counting function stays in the
# image and returns at once, because nobody called monstartup.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

readonly VARIANTS=(
  x86_64-fentry x86_64-mcount i386-fentry i386-mcount aarch64-mcount arm-mcount arm-thumb-mcount riscv64-mcount
  ppc64-mcount ppc64-profile-kernel ppc64le-mcount ppc64le-profile-kernel ppc32-mcount s390x-mcount s390x-fentry
  mips-mcount mipsel-mcount m68k-mcount
)
readonly FLAGS=(-std=gnu17 -O2 -Wall -Wextra -Werror -fno-pie -fno-omit-frame-pointer -fno-optimize-sibling-calls)

# describe VARIANT sets isa, target (of the compiler and its binutils), flags of the ISA and of the instrumentation
describe() {
  isa=${1%%-*} flags=() instrument=(-pg)
  case $isa in
    x86_64) target=x86_64-linux-gnu flags=(-fcf-protection=none) ;;
    i386) target=x86_64-linux-gnu flags=(-m32 -fcf-protection=none -maccumulate-outgoing-args) ;;
    arm) target=arm-linux-gnueabihf flags=(-marm -mapcs-frame) ;;
    ppc64) target=powerpc64-linux-gnu ;;
    ppc64le) target=powerpc64le-linux-gnu ;;
    ppc32) target=powerpc-linux-gnu ;;
    mips | mipsel) target=$isa-linux-gnu flags=(-mno-abicalls -G0 -Wl,--no-warn-mismatch) ;;
    *) target=$isa-linux-gnu ;;
  esac
  case $1 in
    *-thumb-mcount) flags=(-mthumb) ;;
    *-fentry) instrument+=(-mfentry) ;;
    *-profile-kernel) instrument+=(-mprofile-kernel) ;;
  esac
}

# Whether the compiler has what a static program needs: for -m32 gcc is there without headers, libc.a and libgcc.a of
# that size. To link a program would cost as much as to build one.
has_library() {
  [[ $("$target-gcc" "${flags[@]}" -print-file-name=libc.a) == /* ]] &&
    [[ -e $("$target-gcc" "${flags[@]}" -print-libgcc-file-name) ]] &&
    "$target-gcc" "${FLAGS[@]}" "${flags[@]}" -E -include stdio.h -x c /dev/null -o /dev/null 2> /dev/null
}

# compile FILE OPTION...
compile() { "$target-gcc" "${FLAGS[@]}" "${flags[@]}" "${@:2}" -o "$1"; }

# counted DIR: the programs of the ISA that was described, with a count of their own
counted() {
  local file=$1/$isa-counted
  compile "$file" -static -no-pie -finstrument-functions all.c counting.c -lm
  "$target-nm" "$file" > "$file.functions"
}

# instrumented DIR VARIANT; crt1.o, where -pg would take gcrt1.o
instrumented() {
  local file=$1/$2
  compile "$file.o" "${instrument[@]}" -c all.c
  compile "$file" -static -no-pie "$file.o" -lm
  rm "$file.o"
}

case ${1-} in
  --list)
    printf '%s\n' "${VARIANTS[@]}"
    exit 0
    ;;
  '' | -*)
    echo "usage: build.sh DIR [VARIANT...] | --list" >&2
    exit 2
    ;;
esac

readonly folder=$1
mkdir -p "$folder"
shift
[[ $# -gt 0 ]] || set -- "${VARIANTS[@]}"
jobs=() counted_isas=' '
for variant in "$@"; do
  describe "$variant"
  if ! command -v "$target-gcc" > /dev/null; then
    echo "skipped: $target-gcc not installed: $variant"
    continue
  fi
  if ! has_library; then
    echo "skipped: $target-gcc ${flags[*]} has no static C library: $variant"
    continue
  fi
  instrumented "$folder" "$variant" &
  jobs+=("$!")
  if [[ $counted_isas != *" $isa "* ]]; then
    counted "$folder" &
    jobs+=("$!")
    counted_isas+="$isa "
  fi
  while [[ $(jobs -pr | wc -l) -ge $(nproc) ]]; do wait -n; done
  echo "built: $variant"
done
for job in "${jobs[@]}"; do wait "$job"; done
