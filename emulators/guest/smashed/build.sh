#!/usr/bin/env bash
# Builds the images of smashed/: planted buffer overflows (smashed.c), where the tracer sees the word that a function
# returns by. With the compilers, flags, runtime and linker script of the zoo (../variants.sh, ../runtime).
#   build.sh [DIR [VARIANT...]]   into DIR, those of the variants named or all; without DIR all into images/, with
#                                 images/SHA256SUMS; absent compilers are skipped, and said
set -euo pipefail
export LC_ALL=C
out=$(realpath "${1-$(dirname "${BASH_SOURCE[0]}")/images}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
  echo "build.sh: $*" >&2
  exit 2
}
# shellcheck source=../variants.sh
source variants.sh

readonly SMASHED=(x86_64-fentry x86_64-mcount x86_64-patchable i386-fentry i386-mcount aarch64-mcount riscv64-mcount
  riscv32-mcount arm-mcount mips-mcount ppc32-mcount m68k-mcount m68k-patchable)
# As in ../build.sh: nothing that depends on a distribution's defaults, no stack protector.
readonly FLAGS=(
  -std=gnu17 -O2 -Wall -Wextra -Werror -ffreestanding -fno-builtin -fno-pie -fno-stack-protector
  -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-common -fno-ident -fno-optimize-sibling-calls
  -ffile-prefix-map=.=guest -Iruntime)
readonly LINK_FLAGS=(-nostdlib -static -no-pie -Wl,--build-id=sha1 -Wl,-z,max-page-size=4096 -Wl,--fatal-warnings)

# build VARIANT IMAGE
build() {
  local objects source object extra linked=()
  objects=$(mktemp -d)
  sed "s/ZOO_FILL/$fill/" runtime/zoo.ld > "$objects/zoo.ld"
  for source in runtime/"$runtime".S runtime/zoo.c runtime/memory.c smashed/smashed.c; do
    object=$objects/$(basename "$source").o
    extra=(-fno-tree-loop-distribute-patterns)
    [[ $source == *.S ]] && extra=(${counting:+-DZOO_COUNTING=$counting} "${runtime_flags[@]}")
    [[ $source == smashed/* ]] && extra+=("${frame_flags[@]}" "${instrument_flags[@]}")
    "$compiler" "${FLAGS[@]}" "${isa_flags[@]}" "${extra[@]}" -c "$source" -o "$object"
    linked+=("$object")
  done
  "$compiler" "${isa_flags[@]}" "${LINK_FLAGS[@]}" -Wl,-T,"$objects/zoo.ld" "${link_flags[@]}" "${linked[@]}" -o "$2"
  "${compiler%gcc}strip" --strip-debug "$2"
  rm -r "$objects"
}

mkdir -p "$out"
variants=("${@:2}")
[[ $# -gt 1 ]] || variants=("${SMASHED[@]}")
for variant in "${variants[@]}"; do
  [[ " ${SMASHED[*]} " == *" $variant "* ]] || fail "no variant of smashed: $variant; there are: ${SMASHED[*]}"
  describe "$variant"
  if echo 'int x;' | "$compiler" "${isa_flags[@]}" -fno-pie -x c - -c -o /dev/null 2> /dev/null; then
    build "$variant" "$out/smashed-$variant.elf"
    echo "built: smashed-$variant.elf"
  else
    echo "skipped: $compiler not installed (package $package): $variant"
  fi
done
if [[ $# == 0 ]]; then (cd "$out" && sha256sum ./*.elf > SHA256SUMS); fi
