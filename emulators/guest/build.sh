#!/usr/bin/env bash
# Builds the zoo images reproducibly: same sources and same compiler give the same bytes in any directory.
#
#   build.sh                 rebuild images/*.elf and images/manifest.json (needs every compiler)
#   build.sh --check         rebuild into a temporary directory where the compilers exist and compare hashes;
#                            exit 1 on any difference, what could not be built is listed as skipped
#   build.sh --twins DIR     build the uninstrumented twins (zoo-<isa>-plain.elf) into DIR
#   build.sh --list          name the variants
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")"

readonly VARIANTS=(x86_64-fentry x86_64-mcount aarch64-mcount riscv64-mcount)
readonly PLAIN=(x86_64-plain aarch64-plain riscv64-plain)

# One level of optimisation for all; no fused multiply-add, so that floats are equal on every ISA; frames as the
# frame-pointer test needs them; nothing that depends on a distribution's defaults (PIE, CET, stack protector).
readonly COMMON_FLAGS=(
  -std=gnu17 -O2 -Wall -Wextra -Werror -ffreestanding -fno-builtin -fno-pie -fno-omit-frame-pointer
  -ffp-contract=off -fno-stack-protector -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-common -fno-ident
  -ffile-prefix-map=.=guest -Iruntime)
# The calls of the source stay calls; tail.c alone asks for jumps.
readonly CALL_FLAGS=(-fno-optimize-sibling-calls)
readonly TAIL_FLAGS=(-foptimize-sibling-calls)
readonly MEMORY_FLAGS=(-fno-tree-loop-distribute-patterns)
# shellcheck disable=SC2054  # the commas belong to -Wl
readonly LINK_FLAGS=(
  -nostdlib -static -no-pie -Wl,-T,runtime/zoo.ld -Wl,--build-id=sha1 -Wl,-z,max-page-size=4096
  -Wl,--fatal-warnings)

# Sets isa, convention, compiler, isa_flags, instrument_flags and counting (the counting function's name).
describe() {
  isa=${1%-*}
  convention=${1##*-}
  case $isa in
    x86_64)
      compiler=x86_64-linux-gnu-gcc
      isa_flags=(-m64 -march=x86-64 -fcf-protection=none)
      ;;
    aarch64)
      compiler=aarch64-linux-gnu-gcc
      isa_flags=(-march=armv8-a -mbranch-protection=none -mno-outline-atomics)
      ;;
    riscv64)
      compiler=riscv64-linux-gnu-gcc
      isa_flags=(-march=rv64gc -mabi=lp64d -mcmodel=medany -msmall-data-limit=8)
      ;;
    *) fail "no such ISA: $isa" ;;
  esac
  case $isa-$convention in
    x86_64-fentry) instrument_flags=(-pg -mfentry -mrecord-mcount) counting=__fentry__ ;;
    x86_64-mcount) instrument_flags=(-pg -mrecord-mcount) counting=mcount ;;
    *-mcount) instrument_flags=(-pg) counting=_mcount ;;
    *-plain) instrument_flags=() counting= ;;
    *) fail "no such variant: $1" ;;
  esac
}

fail() {
  echo "build.sh: $*" >&2
  exit 2
}

version_of() { "$1" --version | head -n 1; }

# Bytes of every source that can change an image, in a fixed order.
sources() { printf '%s\n' build.sh programs/*.c runtime/*; }

sources_hash() {
  local file
  while read -r file; do sha256sum "$file"; done < <(sources) | sha256sum | cut -d' ' -f1
}

hash_of() { sha256sum "$1" | cut -d' ' -f1; }

# build VARIANT DIR: compiles and links DIR/zoo-VARIANT.elf
build() {
  local variant=$1 out=$2 objects source object extra
  describe "$variant"
  objects=$(mktemp -d)
  local linked=()
  for source in runtime/"$isa".S runtime/zoo.c runtime/memory.c programs/*.c; do
    object=$objects/$(basename "$source").o
    case $source in
      *.S) extra=(${counting:+-DZOO_COUNTING=$counting}) ;;
      runtime/memory.c) extra=("${CALL_FLAGS[@]}" "${MEMORY_FLAGS[@]}") ;;
      runtime/*) extra=("${CALL_FLAGS[@]}") ;;
      programs/tail.c) extra=("${TAIL_FLAGS[@]}" "${instrument_flags[@]}") ;;
      *) extra=("${CALL_FLAGS[@]}" "${instrument_flags[@]}") ;;
    esac
    "$compiler" "${COMMON_FLAGS[@]}" "${isa_flags[@]}" "${extra[@]}" -c "$source" -o "$object"
    linked+=("$object")
  done
  "$compiler" "${isa_flags[@]}" "${LINK_FLAGS[@]}" "${linked[@]}" -o "$out/zoo-$variant.elf"
  "${compiler%gcc}strip" --strip-debug "$out/zoo-$variant.elf"
  rm -r "$objects"
}

json_list() {
  local separator='' item
  printf '['
  for item in "$@"; do
    printf '%s"%s"' "$separator" "$item"
    separator=', '
  done
  printf ']'
}

# Name and default argument of every program, as the sources register them.
programs() { sed -n 's/^ZOO_PROGRAM(\([a-z0-9_]*\), \([0-9]*\)).*/\1 \2/p' programs/*.c; }

write_manifest() {
  local variant separator='' name argument
  printf '{\n  "sourcesSha256": "%s",\n  "programs": [' "$(sources_hash)"
  while read -r name argument; do
    printf '%s\n    {"name": "%s", "argument": %s}' "$separator" "$name" "$argument"
    separator=','
  done < <(programs)
  printf '\n  ],\n  "images": ['
  separator=''
  for variant in "${VARIANTS[@]}"; do
    describe "$variant"
    printf '%s\n    {\n' "$separator"
    printf '      "file": "zoo-%s.elf",\n' "$variant"
    printf '      "isa": "%s",\n' "$isa"
    printf '      "convention": "%s",\n' "$convention"
    printf '      "countingFunction": "%s",\n' "$counting"
    printf '      "compiler": "%s",\n' "$(version_of "$compiler")"
    printf '      "linker": "%s",\n' "$(version_of "${compiler%gcc}ld")"
    printf '      "flags": %s,\n' "$(json_list "${COMMON_FLAGS[@]}" "${isa_flags[@]}" "${instrument_flags[@]}")"
    printf '      "sha256": "%s"\n    }' "$(hash_of "$1/zoo-$variant.elf")"
    separator=','
  done
  printf '\n  ]\n}\n'
}

# The value of a field in the manifest's entry of an image.
recorded() {
  sed -n "/\"file\": \"zoo-$1.elf\"/,/}/s/.*\"$2\": \"\(.*\)\".*/\1/p" images/manifest.json
}

check() {
  local variant work status=0 tool now
  if ! grep -q "\"sourcesSha256\": \"$(sources_hash)\"" images/manifest.json; then
    echo "differs: the sources are not those of images/manifest.json: run emulators/guest/build.sh"
    status=1
  fi
  for variant in "${VARIANTS[@]}"; do
    if [[ ! -f images/zoo-$variant.elf || $(hash_of "images/zoo-$variant.elf") != "$(recorded "$variant" sha256)" ]]; then
      echo "differs: images/zoo-$variant.elf is not the file of images/manifest.json"
      status=1
    fi
  done
  work=$(mktemp -d)
  for variant in "${VARIANTS[@]}"; do
    describe "$variant"
    if ! command -v "$compiler" >/dev/null; then
      echo "skipped: $compiler not installed: zoo-$variant.elf"
      continue
    fi
    now=
    for tool in compiler linker; do
      [[ $tool == compiler ]] && now=$(version_of "$compiler") || now=$(version_of "${compiler%gcc}ld")
      if [[ $now != "$(recorded "$variant" $tool)" ]]; then
        echo "skipped: $tool is '$now', the image was made by '$(recorded "$variant" $tool)': zoo-$variant.elf"
        continue 2
      fi
    done
    build "$variant" "$work"
    if [[ $(hash_of "$work/zoo-$variant.elf") == "$(recorded "$variant" sha256)" ]]; then
      echo "same: zoo-$variant.elf"
    else
      echo "differs: zoo-$variant.elf, rebuilt, has sha256 $(hash_of "$work/zoo-$variant.elf")"
      status=1
    fi
  done
  rm -r "$work"
  return $status
}

case ${1-} in
  '')
    mkdir -p images
    for variant in "${VARIANTS[@]}"; do build "$variant" images; done
    write_manifest images > images/manifest.json
    ls -l images
    ;;
  --check) check ;;
  --twins)
    [[ $# == 2 ]] || fail "--twins needs a directory"
    mkdir -p "$2"
    for variant in "${PLAIN[@]}"; do build "$variant" "$2"; done
    ;;
  --list) printf '%s\n' "${VARIANTS[@]}" ;;
  *) fail "unknown option $1; options: --check, --twins DIR, --list" ;;
esac
