#!/usr/bin/env bash
# Runs every program of every committed image untraced: under qemu-user where it is installed, and natively where the
# host is the image's ISA. Each must end with exit code 0. Exit 1 on any failure; what could not run is listed as
# skipped.
#
#   run-images.sh [DIR]    the prepared images of DIR (build.sh --prepared DIR) instead
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
  echo "run-images.sh: $*" >&2
  exit 2
}
# shellcheck source=variants.sh
source variants.sh

status=0
# run_all LABEL COMMAND...: the command is an image, perhaps behind an emulator
run_all() {
  local label=$1 program count=0
  shift
  for program in '' $("$@" --list); do
    # shellcheck disable=SC2086  # the empty name means: no argument, the whole zoo
    if "$@" $program > /dev/null; then
      count=$((count + 1))
    else
      echo "failed: $label ${program:-(whole zoo)}: exit code $?"
      status=1
    fi
  done
  echo "ran: $label: $count runs ended with 0"
}

# run_image IMAGE: in every way that this machine has
run_image() {
  if command -v "qemu-$qemu" > /dev/null; then
    run_all "qemu-$qemu $1" "qemu-$qemu" "$1"
  else
    echo "skipped: qemu-$qemu not installed: $1"
  fi
  case $(uname -sm)-$isa in
    "Linux $isa-$isa" | 'Linux x86_64-i386') run_all "$1" "$1" ;;
  esac
}

if [[ $# == 0 ]]; then
  for variant in "${COMMITTED[@]}"; do
    describe "$variant"
    run_image "images/zoo-$variant.elf"
  done
  exit $status
fi

[[ -n $(find "$1" -name '*.elf') ]] || fail "no images in $1: run build.sh --prepared $1"
for image in "$1"/zoo-*.elf "$1"/realign-*.elf; do
  [[ -f $image ]] || continue
  variant=$(basename "$image" .elf)
  describe "${variant#*-}"
  run_image "$image"
done
exit $status
