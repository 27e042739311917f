#!/usr/bin/env bash
# Builds the static Linux programs of this folder, whose stacks are left by unwinders and jumps.
#
#   build.sh DIR [VARIANT...]  DIR/<program>-<variant> for each compiler that is installed; the rest is listed as skipped
#   build.sh --list            name the variants
#
# They are linked without -pg, as any program for retstack: see userland/build.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

readonly VARIANTS=(
  x86_64-mcount x86_64-mcount-O0 x86_64-fentry x86_64-fentry-O0 x86_64-patchable aarch64-mcount aarch64-patchable
  riscv64-mcount riscv64-patchable s390x-mcount s390x-fentry arm-mcount i386-mcount m68k-mcount
  mips-mcount mipsel-mcount ppc64le-mcount ppc64le-profile-kernel ppc64-mcount ppc32-mcount
  x86_64-split x86_64-split-O0
)
# Functions of C leave their frames by clean-ups, as those of C++ do.
readonly CLEANUPS=(-fexceptions -fnon-call-exceptions -fasynchronous-unwind-tables)
readonly FLAGS=(-Wall -Wextra -Werror -fno-pie -fno-omit-frame-pointer)

# describe VARIANT sets target and flags
describe() {
  flags=(-O2)
  case ${1%%-*} in
    x86_64) target=x86_64-linux-gnu flags+=(-fcf-protection=none) ;;
    arm) target=arm-linux-gnueabihf flags+=(-marm -mapcs-frame) ;;
    i386) target=i686-linux-gnu flags+=(-fcf-protection=none) ;;
    ppc64le) target=powerpc64le-linux-gnu ;;
    ppc64) target=powerpc64-linux-gnu ;;
    ppc32) target=powerpc-linux-gnu ;;
    mips*) target=${1%%-*}-linux-gnu flags+=(-mno-abicalls -G0) ;;
    *) target=${1%%-*}-linux-gnu ;;
  esac
  case $1 in
    *-fentry*) flags+=(-pg -mfentry) ;;
    *-patchable) flags+=(-fpatchable-function-entry=8) ;;
    *-profile-kernel) flags+=(-pg -mprofile-kernel) ;;
    *-split*) flags+=(-pg -fsplit-stack) ;;
    *) flags+=(-pg) ;;
  esac
  case $1 in *-O0) flags+=(-O0 -DUNOPTIMIZED) ;; esac
  link=() sources=(exceptions.cpp handlers.c jumps.c readers.c)
  # gold gives functions enough room that call functions without pieces
  if [[ $1 == *-split* ]]; then link=(-fsplit-stack -fuse-ld=gold) sources=(pieces.cpp); fi
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
for variant in "$@"; do
  describe "$variant"
  for source in "${sources[@]}"; do
    compiler=$target-gcc language=(-std=gnu17 "${CLEANUPS[@]}")
    if [[ $source == *.cpp ]]; then compiler=$target-g++ language=(-std=gnu++17); fi
    program=$folder/${source%.*}-$variant
    if ! command -v "$compiler" > /dev/null; then
      echo "skipped: $compiler not installed: ${source%.*}-$variant"
      continue
    fi
    "$compiler" "${language[@]}" "${FLAGS[@]}" "${flags[@]}" -c "$source" -o "$program.o"
    "$compiler" -static -no-pie -Wl,--no-warn-mismatch "${link[@]}" "$program.o" -o "$program"
    rm "$program.o"
    echo "built: ${source%.*}-$variant"
  done
done
