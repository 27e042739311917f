#!/usr/bin/env bash
# Regenerates programs/*.tree, programs/*.counts and rtos/rtos.trees by a native run of the same sources, without the tracer
# (oracle.c), and compares them with the committed ones. The oracle is built at -O0 and -O2: both must agree.
# programs/*.O0.tree is the tree of a program that makes tail calls where they stay calls: in images made at -O0.
#
#   expected-trees.sh            compare; exit 1 on any difference
#   expected-trees.sh --write    write the files (review the difference before you commit it)
#
# CC is the host's compiler, gcc unless told.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mode=${1-compare}
case $mode in
  compare | --write) ;;
  *)
    echo "expected-trees.sh: unknown option $mode; options: --write" >&2
    exit 2
    ;;
esac

command -v "${CC:-gcc}" >/dev/null || {
  echo "skipped: no ${CC:-gcc}"
  exit 0
}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
for level in O0 O2; do
  "${CC:-gcc}" -std=gnu17 "-$level" -Wall -Wextra -Werror -no-pie -rdynamic -ffp-contract=off \
    -fno-optimize-sibling-calls -finstrument-functions -DZOO_ORACLE -Iruntime programs/*.c tools/oracle.c \
    -o "$work/oracle-$level" -ldl
done

for level in O0 O2; do
  "${CC:-gcc}" -std=gnu17 "-$level" -Wall -Wextra -Werror -no-pie -rdynamic -fno-optimize-sibling-calls \
    -finstrument-functions -DZOO_ORACLE -Iruntime rtos/*.c tools/oracle.c tools/rtos-host.c -o "$work/rtos-$level" -ldl
done

status=0 expected=''
compare() {
  if ! diff -u "$1" "$2"; then
    echo "differs: $1"
    status=1
  fi
}

"$work/oracle-O0" --list > "$work/programs"
while read -r program _; do
  for kind in tree tree-O0 counts; do
    for level in O0 O2; do
      "$work/oracle-$level" "$program" "$kind" > "$work/$program-$level.$kind" 2> "$work/stderr" || {
        cat "$work/stderr" >&2
        exit 1
      }
    done
    compare "$work/$program-O0.$kind" "$work/$program-O2.$kind"
    file=programs/$program.$kind
    if [[ $kind == tree-O0 ]]; then
      cmp -s "$work/$program-O0.tree" "$work/$program-O0.$kind" && continue
      file=programs/$program.O0.tree
    fi
    expected+="$file "
    if [[ $mode == --write ]]; then
      cp "$work/$program-O0.$kind" "$file"
    else
      compare "$file" "$work/$program-O0.$kind"
    fi
  done
done < "$work/programs"

for level in O0 O2; do "$work/rtos-$level" rtos tree > "$work/rtos-$level.trees"; done
compare "$work/rtos-O0.trees" "$work/rtos-O2.trees"
if [[ $mode == --write ]]; then
  cp "$work/rtos-O0.trees" rtos/rtos.trees
else
  compare rtos/rtos.trees "$work/rtos-O0.trees"
fi

# a file that nothing made would never be looked at
for file in programs/*.tree programs/*.counts; do
  if [[ " $expected" != *" $file "* ]]; then
    echo "differs: $file has no program"
    status=1
  fi
done
[[ $status == 0 ]] && echo "same: trees and counts of $(wc -l < "$work/programs") programs, trees of tasks"
exit $status
