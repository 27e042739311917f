#!/usr/bin/env bash
# Builds the static Linux programs of this folder instrumented, for the tests of a user's own program.
#
#   build.sh DIR     DIR/<program>-<variant> for each compiler that is installed; what is missing is listed as skipped
#   build.sh --list  name the variants
#
# Compile with -pg, link WITHOUT -pg: the linker then takes the plain crt1.o and not gcrt1.o, so that no profiling
# timer (setitimer, SIGPROF) starts and no gmon.out is written at exit. glibc's own counting function stays in the
# image and returns at once, because nobody called monstartup.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

readonly VARIANTS=(x86_64-fentry x86_64-mcount aarch64-mcount riscv64-mcount)
readonly FLAGS=(-std=gnu17 -O2 -Wall -Wextra -Werror -fno-pie -fno-omit-frame-pointer
  -fno-optimize-sibling-calls)

case ${1-} in
  --list)
    printf '%s\n' "${VARIANTS[@]}"
    exit 0
    ;;
  '' | -*)
    echo "usage: build.sh DIR | --list" >&2
    exit 2
    ;;
esac

mkdir -p "$1"
for variant in "${VARIANTS[@]}"; do
  compiler=${variant%-*}-linux-gnu-gcc
  if ! command -v "$compiler" > /dev/null; then
    echo "skipped: $compiler not installed: $variant"
    continue
  fi
  instrument=(-pg)
  [[ $variant == x86_64-* ]] && instrument+=(-fcf-protection=none)
  [[ $variant == *-fentry ]] && instrument+=(-mfentry)
  for source in *.c; do
    program=$1/${source%.c}-$variant
    "$compiler" "${FLAGS[@]}" "${instrument[@]}" -c "$source" -o "$program.o"
    "$compiler" -static -no-pie "$program.o" -o "$program"
    rm "$program.o"
  done
  echo "built: $variant"
done
