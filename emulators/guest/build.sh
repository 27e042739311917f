#!/usr/bin/env bash
# Builds the zoo images reproducibly: same sources and same compiler give the same bytes in any directory.
#
#   build.sh [VARIANT...]    rebuild images/*.elf, all committed variants of variants.sh or those named, realign/images,
#                            hot/images, rtos/images, and images/manifest.json
#   build.sh --check [VARIANT...]
#                            compare sources and files with the manifest; rebuild all images, or those of the variants
#                            named, into a temporary directory where the compilers exist and compare hashes; exit 1 on
#                            any difference, what could not be built is listed as skipped
#   build.sh --prepared DIR  build the prepared variants into DIR; absent compilers are skipped
#   build.sh --realign DIR   build the images of realign/ into DIR; absent compilers are skipped
#   build.sh --rtos DIR [VARIANT...]
#                            build the images of rtos/, or those of the variants named, into DIR; absent compilers are
#                            skipped
#   build.sh --twins DIR     build the uninstrumented twins (zoo-<isa>-plain.elf, and such as zoo-riscv64-plain-far.elf where
#                            the variant's flags do more than instrument) into DIR; absent compilers are skipped
#   build.sh --levels DIR [VARIANT...]
#                            build every variant at -O0 -O1 -O2 -O3 -Os, with and without frame pointers where the
#                            convention allows, into DIR, and a manifest of all such images there: the conformance
#                            sweep (retstack isa --verify --images DIR); absent compilers are skipped.
#                            ZOO_LEVELS='O0 Os' in the environment: these levels only
#   build.sh --sources DIR VARIANT-LEVEL[-nofp]...
#                            build images of the programs in another folder, DIR/*.c, as DIR/zoo-VARIANT-LEVEL[-nofp].elf;
#                            what cannot be built is listed as skipped. ZOO_FLAGS in the environment: more options of the
#                            compiler; ZOO_LINK_FLAGS: of the linker
#   build.sh --missing       list the absent compilers and the Debian packages that bring them; exit 1 if any is absent
#   build.sh --list          name the variants, committed or prepared
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")"

# shellcheck source=variants.sh
source variants.sh

# No fused multiply-add, so that floats are equal on every ISA; nothing that depends on a distribution's defaults
# (PIE, CET, stack protector).
readonly COMMON_FLAGS=(
  -std=gnu17 -Wall -Wextra -Werror -ffreestanding -fno-builtin -fno-pie
  -ffp-contract=off -fno-stack-protector -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-common -fno-ident
  -ffile-prefix-map=.=guest -Iruntime)
# The calls of the source stay calls; tail.c alone asks for jumps.
readonly CALL_FLAGS=(-fno-optimize-sibling-calls)
readonly TAIL_FLAGS=(-foptimize-sibling-calls)
readonly LEVELS=(O0 O1 O2 O3 Os)
readonly MEMORY_FLAGS=(-fno-tree-loop-distribute-patterns)
# shellcheck disable=SC2054  # the commas belong to -Wl
readonly LINK_FLAGS=(
  -nostdlib -static -no-pie -Wl,--build-id=sha1 -Wl,-z,max-page-size=4096
  -Wl,--fatal-warnings)

more_flags=() more_link_flags=()

fail() {
  echo "build.sh: $*" >&2
  exit 2
}

version_of() { "$1" --version | head -n 1; }

# Bytes of every source that can change an image, in a fixed order.
sources() { printf '%s\n' build.sh variants.sh programs/*.c realign/*.c hot/*.[ch] rtos/*.[ch] runtime/*; }

sources_hash() {
  local file
  while read -r file; do sha256sum "$file"; done < <(sources) | sha256sum | cut -d' ' -f1
}

hash_of() { sha256sum "$1" | cut -d' ' -f1; }

# The linker script with the trap that fills gaps.
linker_script() { sed "s/ZOO_FILL/$fill/" runtime/zoo.ld; }

# compile COMPILER SOURCE OBJECT FLAG...: through the variant's edit of the assembly text, where it has one
compile() {
  local with=$1 source=$2 object=$3
  shift 3
  if [[ -n $edit && $source == *.c ]]; then
    "$compiler" "$@" -S "$source" -o "$object.s"
    sed -i -e "$edit" "$object.s"
    "$compiler" "${isa_flags[@]}" -c "$object.s" -o "$object"
  else
    "$with" "$@" -c "$source" -o "$object"
  fi
}

# build FOLDER VARIANT IMAGE [LEVEL [nofp]]: compiles the programs of FOLDER and links IMAGE, at -O2 unless told
build() {
  local folder=$1 variant=$2 out=$3 objects source object extra flags
  shift 2
  describe "$variant"
  flags=("${COMMON_FLAGS[@]}" "-${2-O2}" "${more_flags[@]}")
  objects=$(mktemp -d)
  linker_script > "$objects/zoo.ld"
  local linked=()
  for source in runtime/"$runtime".S runtime/zoo.c runtime/memory.c "$folder"/*.c; do
    object=$objects/$(basename "$source").o
    [[ " ${without[*]-} " == *" $(basename "$source" .c) "* ]] && continue
    extra=()
    # corrupt spoils the frame pointer that it saved: it has one in every image
    [[ $source == runtime/* || (${3-} == nofp && $source != */corrupt.c) ]] || extra+=("${frame_flags[@]}")
    case $source in
      *.S) extra+=(${counting:+-DZOO_COUNTING=$counting} "${runtime_flags[@]}") ;;
      runtime/memory.c) extra+=("${CALL_FLAGS[@]}" "${MEMORY_FLAGS[@]}") ;;
      runtime/*) extra+=("${CALL_FLAGS[@]}") ;;
      */tail*.c) extra+=("${TAIL_FLAGS[@]}" "${instrument_flags[@]}") ;;
      *) extra+=("${CALL_FLAGS[@]}" "${instrument_flags[@]}") ;;
    esac
    if [[ $source == runtime/* ]]; then
      compile "$linker" "$source" "$object" "${flags[@]}" "${linker_isa_flags[@]}" "${extra[@]}"
    else
      compile "$compiler" "$source" "$object" "${flags[@]}" "${isa_flags[@]}" "${extra[@]}"
    fi
    linked+=("$object")
  done
  # -O2 needs no library; other levels call helpers of libgcc for division, wide shifts, saved registers (which raise()
  # on a division by zero). Debian has none for riscv32 and 32-bit sparc, which do without
  if [[ ${2-O2} != O2 && $isa != riscv32 && $isa != sparc ]]; then linked+=(-lgcc "-Wl,--defsym=raise=0"); fi
  "$linker" "${linker_isa_flags[@]}" "${LINK_FLAGS[@]}" -Wl,-T,"$objects/zoo.ld" "${link_flags[@]}" "${linked[@]}" \
    "${more_link_flags[@]}" -o "$out"
  "${linker%gcc}strip" --strip-debug "$out"
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

# Opens a manifest: hash of the sources, programs.
manifest_head() {
  local separator='' name argument
  printf '{\n  "sourcesSha256": "%s",\n  "programs": [' "$(sources_hash)"
  while read -r name argument; do
    printf '%s\n    {"name": "%s", "argument": %s}' "$separator" "$name" "$argument"
    separator=','
  done < <(programs)
  printf '\n  ],\n'
}

write_manifest() {
  local variant separator=''
  manifest_head
  printf '  "images": ['
  for variant in "${COMMITTED[@]}"; do
    printf '%s\n' "$separator"
    entry "images/zoo-$variant.elf" "$variant"
    separator=','
  done
  printf '\n  ],\n  "realign": ['
  separator=''
  for variant in "${REALIGN[@]}"; do
    printf '%s\n' "$separator"
    entry "realign/images/realign-$variant.elf" "$variant"
    separator=','
  done
  printf '\n  ],\n  "hot": ['
  separator=''
  for variant in "${HOT[@]}"; do
    printf '%s\n' "$separator"
    entry "hot/images/hot-$variant.elf" "$variant"
    separator=','
  done
  printf '\n  ],\n  "rtos": ['
  separator=''
  for variant in "${RTOS[@]}"; do
    printf '%s\n' "$separator"
    entry "rtos/images/rtos-$variant.elf" "$variant"
    separator=','
  done
  printf '\n  ]\n}\n'
}

# write_levels_manifest DIR: of every image of --levels that is there, in the order of the variants
write_levels_manifest() {
  local variant level suffix file separator=''
  manifest_head
  printf '  "images": ['
  for variant in "${VARIANTS[@]}"; do
    for level in "${LEVELS[@]}"; do
      for suffix in '' nofp; do
        file=$1/zoo-$variant-$level${suffix:+-$suffix}.elf
        [[ -f $file ]] || continue
        printf '%s\n' "$separator"
        entry "$file" "$variant" "$level" $suffix
        separator=','
      done
    done
  done
  printf '\n  ]\n}\n'
}

# entry IMAGE VARIANT [LEVEL [nofp]]: the manifest's entry of an image
entry() {
  describe "$2"
  [[ ${4-} == nofp ]] && frame_flags=()
  printf '    {\n'
  printf '      "file": "%s",\n' "$(basename "$1")"
  printf '      "isa": "%s",\n' "$isa"
  printf '      "convention": "%s",\n' "$convention"
  printf '      "level": "%s",\n' "${3-O2}"
  printf '      "framePointers": %s,\n' "$([[ ${#frame_flags[@]} == 0 ]] && echo false || echo true)"
  printf '      "countingFunction": "%s",\n' "$counting"
  printf '      "sites": "%s",\n' "$sites"
  printf '      "fpCheck": %s,\n' "$fp_check"
  printf '      "without": %s,\n' "$(json_list "${without[@]}")"
  printf '      "compiler": "%s",\n' "$(version_of "$compiler")"
  printf '      "linker": "%s",\n' "$(version_of "${linker%gcc}ld")"
  printf '      "flags": %s,\n' \
    "$(json_list "${COMMON_FLAGS[@]}" "-${3-O2}" "${isa_flags[@]}" "${frame_flags[@]}" "${instrument_flags[@]}")"
  printf '      "sha256": "%s"\n    }' "$(hash_of "$1")"
}

# The value of a field in the manifest's entry of an image.
recorded() {
  sed -n "/\"file\": \"$1\"/,/}/s/.*\"$2\": \"\(.*\)\".*/\1/p" images/manifest.json
}

# check VARIANT...: all files against the manifest, and the rebuilt images of the variants named; none: of all
check() {
  local variant status=0
  if [[ $# == 0 ]]; then set -- "${COMMITTED[@]}" "${REALIGN[@]}" "${RTOS[@]}"; fi
  if ! grep -q "\"sourcesSha256\": \"$(sources_hash)\"" images/manifest.json; then
    echo "differs: the sources are not those of images/manifest.json: run emulators/guest/build.sh"
    status=1
  fi
  for variant in "${COMMITTED[@]}"; do
    check_image programs "images/zoo-$variant.elf" "$variant" "$@" || status=1
  done
  for variant in "${REALIGN[@]}"; do
    check_image realign "realign/images/realign-$variant.elf" "$variant" "$@" || status=1
  done
  for variant in "${HOT[@]}"; do
    check_image hot "hot/images/hot-$variant.elf" "$variant" "$@" || status=1
  done
  for variant in "${RTOS[@]}"; do
    check_image rtos "rtos/images/rtos-$variant.elf" "$variant" "$@" || status=1
  done
  return $status
}

# check_image FOLDER IMAGE VARIANT WANTED...: rebuilds it where it is among those wanted
check_image() {
  local file=$2 name rebuilt now tool same
  name=$(basename "$file")
  if [[ ! -f $file || $(hash_of "$file") != "$(recorded "$name" sha256)" ]]; then
    echo "differs: $file is not the file of images/manifest.json"
    return 1
  fi
  [[ " ${*:4} " == *" $3 "* ]] || return 0
  buildable "$3" || return 0
  for tool in compiler linker; do
    [[ $tool == compiler ]] && now=$(version_of "$compiler") || now=$(version_of "${linker%gcc}ld")
    if [[ $now != "$(recorded "$name" $tool)" ]]; then
      echo "skipped: $tool is '$now', the image was made by '$(recorded "$name" $tool)': $name"
      return 0
    fi
  done
  rebuilt=$(mktemp)
  build "$1" "$3" "$rebuilt"
  same=$(hash_of "$rebuilt")
  rm "$rebuilt"
  if [[ $same == "$(recorded "$name" sha256)" ]]; then
    echo "same: $name"
  else
    echo "differs: $name, rebuilt, has sha256 $same"
    return 1
  fi
}

# buildable VARIANT: describes it; false, and says so, where its compiler is absent
buildable() {
  describe "$1"
  has_compiler && return
  echo "skipped: $compiler not installed (package $package): $1"
  return 1
}

# Whether the described variant's compiler is there; gcc without its multilib cannot even begin with -m32.
has_compiler() {
  command -v "$compiler" > /dev/null && command -v "$linker" > /dev/null &&
    echo 'int x;' | "$compiler" "${isa_flags[@]}" -fno-pie -x c - -c -o /dev/null 2> /dev/null
}

# prepared DIR
prepared() {
  local variant
  for variant in "${PREPARED[@]}"; do
    buildable "$variant" || continue
    build programs "$variant" "$1/zoo-$variant.elf"
    echo "built: zoo-$variant.elf"
  done
}

# apart FOLDER DIR VARIANT...: the images of a folder beside the zoo
apart() {
  local folder=$1 out=$2 variant
  shift 2
  for variant in "$@"; do
    buildable "$variant" || continue
    build "$folder" "$variant" "$out/$folder-$variant.elf"
    echo "built: $folder-$variant.elf"
  done
}

# levels DIR VARIANT...
levels() {
  local out=$1 variant level wanted
  shift
  read -ra wanted <<< "${ZOO_LEVELS-${LEVELS[*]}}"
  for level in "${wanted[@]}"; do
    [[ " ${LEVELS[*]} " == *" $level "* ]] || fail "no such level: $level; levels: ${LEVELS[*]}"
  done
  for variant in "$@"; do
    buildable "$variant" || continue
    for level in "${wanted[@]}"; do
      build programs "$variant" "$out/zoo-$variant-$level.elf" "$level"
      [[ $frames == optional ]] && build programs "$variant" "$out/zoo-$variant-$level-nofp.elf" "$level" nofp
    done
    echo "built: $variant"
  done
  write_levels_manifest "$out" > "$out/manifest.json"
}

# sources DIR FORM...
sources_of() {
  local form variant level suffix
  for form in "${@:2}"; do
    suffix='' variant=$form
    [[ $form == *-nofp && $form =~ -O[0-3s]-nofp$ ]] && suffix=nofp variant=${form%-nofp}
    level=${variant##*-} variant=${variant%-*}
    [[ " ${LEVELS[*]} " == *" $level "* ]] || fail "no level at the end of $form; levels: ${LEVELS[*]}"
    buildable "$variant" || continue
    if [[ -n $suffix && $frames != optional ]]; then
      echo "skipped: with or without frame pointers is part of $variant: $form"
      continue
    fi
    build "$1" "$variant" "$1/zoo-$form.elf" "$level" $suffix
    echo "built: $form"
  done
}

missing() {
  local variant status=0 seen=' '
  for variant in "${VARIANTS[@]}"; do
    describe "$variant"
    [[ $seen == *" $package "* ]] && continue
    seen+="$package "
    if ! has_compiler; then
      echo "missing: $compiler: apt-get install $package"
      status=1
    fi
  done
  return $status
}

case ${1-} in
  '' | [!-]*)
    mkdir -p images
    if [[ $# == 0 ]]; then set -- "${COMMITTED[@]}"; fi
    for variant in "$@"; do
      [[ " ${COMMITTED[*]} " == *" $variant "* ]] || fail "not a committed variant: $variant; see --list"
    done
    for variant in "$@"; do build programs "$variant" "images/zoo-$variant.elf"; done
    mkdir -p realign/images
    for variant in "${REALIGN[@]}"; do build realign "$variant" "realign/images/realign-$variant.elf"; done
    mkdir -p hot/images
    for variant in "${HOT[@]}"; do build hot "$variant" "hot/images/hot-$variant.elf"; done
    mkdir -p rtos/images
    for variant in "${RTOS[@]}"; do build rtos "$variant" "rtos/images/rtos-$variant.elf"; done
    write_manifest > images/manifest.json
    ls -l images
    ;;
  --check)
    shift
    for variant in "$@"; do
      [[ " ${COMMITTED[*]} ${REALIGN[*]} " == *" $variant "* ]] || fail "not a committed variant: $variant; see --list"
    done
    check "$@"
    ;;
  --prepared)
    [[ $# == 2 ]] || fail "--prepared needs a directory"
    mkdir -p "$2"
    prepared "$2"
    ;;
  --realign)
    [[ $# == 2 ]] || fail "--realign needs a directory"
    mkdir -p "$2"
    apart realign "$2" "${REALIGN[@]}"
    ;;
  --rtos)
    [[ $# -ge 2 ]] || fail "--rtos needs a directory"
    mkdir -p "$2"
    [[ $# -gt 2 ]] || set -- "$@" "${RTOS[@]}"
    for variant in "${@:3}"; do
      [[ " ${RTOS[*]} " == *" $variant "* ]] || fail "no variant of rtos: $variant; there are: ${RTOS[*]}"
    done
    apart rtos "${@:2}"
    ;;
  --twins)
    [[ $# == 2 ]] || fail "--twins needs a directory"
    mkdir -p "$2"
    for variant in $(printf '%s-plain\n' "${COMMITTED[@]%%-*}" | sort -u) "${TWINS[@]}"; do
      buildable "$variant" || continue
      build programs "$variant" "$2/zoo-$variant.elf"
    done
    ;;
  --levels)
    [[ $# -ge 2 ]] || fail "--levels needs a directory"
    mkdir -p "$2"
    if [[ $# == 2 ]]; then levels "$2" "${VARIANTS[@]}"; else levels "${@:2}"; fi
    ;;
  --sources)
    [[ $# -ge 3 ]] || fail "--sources needs a directory and images to build"
    read -ra more_flags <<< "${ZOO_FLAGS-}"
    read -ra more_link_flags <<< "${ZOO_LINK_FLAGS-}"
    sources_of "${@:2}"
    ;;
  --missing) missing ;;
  --list)
    printf '%s committed\n' "${COMMITTED[@]}"
    printf '%s prepared\n' "${PREPARED[@]}"
    ;;
  *) fail "unknown option $1; options: --check, --prepared DIR, --realign DIR, --rtos DIR, --twins DIR, --levels DIR [VARIANT...], --sources DIR FORM..., --missing, --list" ;;
esac
