#!/usr/bin/env bash
# Runs every program of every image untraced: under qemu-user where it is installed, and natively where the host is
# the image's ISA. Each must end with exit code 0. Exit 1 on any failure; what could not run is listed as skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

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

while read -r variant; do
  isa=${variant%-*}
  image=images/zoo-$variant.elf
  if command -v "qemu-$isa" > /dev/null; then
    run_all "qemu-$isa $image" "qemu-$isa" "$image"
  else
    echo "skipped: qemu-$isa not installed: $image"
  fi
  if [[ $(uname -sm) == "Linux $isa" ]]; then run_all "$image" "$image"; fi
done < <(./build.sh --list)
exit $status
