#!/usr/bin/env bash
# Compares the speed of two commits, in turns: deploy/benchmarks/compare.sh OLD NEW [STAGE...]. "--help" explains it.
set -euo pipefail
export LC_ALL=C # awk and printf agree about the decimal point
exec </dev/null

root=$(dirname "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")")
all=(capture path live replay report record)

usage() {
  cat <<'END'
Usage: deploy/benchmarks/compare.sh [--pairs N] [--calls N] OLD NEW [STAGE...]

Builds two commits, each in a folder of its own, and runs the stages in turns: old, new, old, new.
The checkout is not touched. What it prints for each figure: the medians of both commits, the
median of new/old, and in how many pairs the new one was slower. A sign test tells a loss from
noise: "slower" and "faster" would happen by chance in fewer than 1 of 20 comparisons.

Stages, all of them by default:
  capture  traced / untraced and traced / nops, by CPU time: fib and w200, probe in C
  path     CPU time per record: encode, decode, unpack, reconstruct
  live     fleet, broker and pipeline: CPU time per record, and times untraced
  replay   CPU time per record of a stored trace
  report   CPU seconds of a small report, the least of five runs
  record   CPU seconds of "record" of an empty program, likewise

  --pairs N   pairs of runs (default: 8; fewer than 6 cannot tell a loss from noise)
  --calls N   calls per run of a stage, approximately (default: 500000)
  --table F   measures nothing: prints the table of the figures in file F, as a comparison leaves
              them in the folder of the builds (file "figures")

Environment: RETSTACK_COMPARE is the folder of the builds (default: retstack-compare-USER in TMPDIR
or /tmp). A commit is built once and stays there.

Example:
  deploy/benchmarks/compare.sh HEAD~1 HEAD capture

A stage that does not run in one of the commits is told with the reason, and has no figures there.

Exit codes: 0 compared, whatever came out; 2 wrong arguments, or no such commit here; 4 a commit
does not build (the message names the log).
END
}

say() { printf 'retstack: %s\n' "$*" >&2; }

fail() {
  local code=$1
  shift
  say "$*"
  exit "$code"
}

number() {
  [[ ${2:-} =~ ^[1-9][0-9]{0,8}$ ]] || fail 2 "$1: a number of 1 and more, not \"${2:-}\""
  printf '%s\n' "$2"
}

# Prints the whole hash of a commit.
commit() {
  git -C "$root" rev-parse --verify --quiet --end-of-options "$1^{commit}" 2>/dev/null ||
    fail 2 "no commit \"$1\" in $root: name one of \"git log\", and fetch the history if the checkout is shallow"
}

# Puts a commit into folder $builds/HASH and builds it, unless that was done before.
prepare() {
  local hash=$1 folder=$builds/$1
  [ ! -e "$folder.built" ] || return 0
  say "building ${hash:0:12} in $folder (about a minute)"
  rm -rf "$folder"
  mkdir -p "$folder"
  git -C "$root" archive "$hash" | tar -x -C "$folder"
  for verb in --version "bench --help"; do
    # shellcheck disable=SC2086 # two words
    "$folder/retstack" $verb >"$builds/log" 2>&1 8>&- || fail 4 "commit $hash does not build: see $builds/log"
  done
  touch "$folder.built"
}

# Runs a command in folder $work and prints its output.
run() {
  (cd "$work" && "$@" 2>"$work/log" 8>&-)
}

# Prints the figures of stages of "bench" that count, one on a line, separated by tabs: what, value.
bench() {
  local command=$1 stage=$2 figures=$3
  shift 3
  run "$command" bench --stage "$stage" --calls "$calls" --format json "$@" | awk -v figures="^($figures)\$" -F '"' '
    $2 == "stage" { stage = $4 } $2 == "subject" { subject = $4 } $2 == "figure" { figure = $4 }
    $2 == "value" && figure ~ figures {
      value = $3; sub(/^ *: */, "", value); sub(/, [0-9,]* records$/, "", subject)
      printf "%s %s %s\t%s\n", stage, subject, figure, value
    }'
}

# Prints what, and the CPU seconds of a command: the least of five runs.
seconds() {
  local TIMEFORMAT='%U %S' i what=$1
  shift
  for i in 1 2 3 4 5; do
    { time (cd "$work" && "$@" >"$work/log" 2>&1 8>&-); } 2>&1 || return
  done | awk -v what="$what" 'NR == 1 || $1 + $2 < least { least = $1 + $2 } END { printf "%s cpuSeconds\t%s\n", what, least }'
}

# Prints the figures of one run of a stage.
stage() {
  local name=$1 folder=$2 image=zoo-x86_64-fentry
  local command=$folder/retstack
  case $name in
    capture) bench "$command" capture 'timesUntraced|timesNops' --probe native --image "$image" --rounds 3 ;;
    path) bench "$command" path '(unpack|reconstruct|)[nN]sPerRecord' --image "$image" --rounds 5 ;;
    live) bench "$command" live 'cpuNsPerRecord|timesUntraced' --image "$image" --image "$image" --rounds 2 ;;
    replay) bench "$command" replay 'cpuNsPerRecord' --image "$image" --rounds 3 ;;
    report) seconds "report small trace" "$command" report "$folder/schemas/golden/v1/trace.avro" ;;
    record) seconds "record empty program" "$command" record --image "$work/empty" -o "$work/empty.avro" ;;
  esac
}

# Compiles the empty program; fails without a compiler.
empty_program() {
  printf 'int main(void) { return 0; }\n' >"$work/empty.c"
  "${CC:-cc}" -O2 -pg -o "$work/empty" "$work/empty.c" >"$work/log" 2>&1
}

# Reads lines "pair, side, what, value" and prints the table.
table() {
  awk -F '\t' '
    function median(list, n,   i, j, swap) {
      for (i = 2; i <= n; i++)
        for (j = i; j > 1 && list[j - 1] > list[j]; j--) { swap = list[j]; list[j] = list[j - 1]; list[j - 1] = swap }
      return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
    }
    # the chance that of n fair coins at least this many show one side, or the other
    function chance(most, n,   i, k, term, sum) {
      for (i = most; i <= n; i++) {
        term = 1
        for (k = 1; k <= i; k++) term *= (n - k + 1) / k
        sum += term
      }
      sum = 2 * sum / 2 ^ n
      return sum > 1 ? 1 : sum
    }
    { if (!($3 in known)) { known[$3]; what[++kinds] = $3 } value[$3, $2, $1] = $4; if ($1 > pairs) pairs = $1 }
    END {
      printf "%-62s %9s %9s %8s %10s  %s\n", "FIGURE", "OLD", "NEW", "NEW/OLD", "SLOWER IN", "RESULT"
      for (w = 1; w <= kinds; w++) {
        n = slower = faster = 0; delete a; delete b; delete r
        for (p = 1; p <= pairs; p++) {
          if (!((what[w], "old", p) in value) || !((what[w], "new", p) in value)) continue
          n++; a[n] = value[what[w], "old", p] + 0; b[n] = value[what[w], "new", p] + 0; r[n] = b[n] / a[n]
          slower += b[n] > a[n]; faster += b[n] < a[n]
        }
        if (n == 0) { printf "%-62s in one of the commits only\n", what[w]; continue }
        most = slower > faster ? slower : faster
        result = chance(most, slower + faster) >= 0.05 ? "noise" : slower > faster ? "slower" : "faster"
        printf "%-62s %9.3f %9.3f %8.3f %10s  %s\n", what[w], median(a, n), median(b, n), median(r, n), slower " of " n, result
      }
    }' "$1"
}

pairs=8 calls=500000 words=()
while [ $# -gt 0 ]; do
  case $1 in
    --help | -h)
      usage
      exit 0
      ;;
    --pairs)
      pairs=$(number "$1" "${2:-}")
      shift
      ;;
    --calls)
      calls=$(number "$1" "${2:-}")
      shift
      ;;
    --table)
      [ -r "${2:-}" ] || fail 2 "--table: no file \"${2:-}\""
      table "$2"
      exit 0
      ;;
    -*) fail 2 "no option $1: see --help" ;;
    *) words+=("$1") ;;
  esac
  shift
done
[ ${#words[@]} -ge 2 ] || fail 2 "two commits are needed: deploy/benchmarks/compare.sh OLD NEW [STAGE...]; see --help"
stages=("${words[@]:2}")
[ ${#stages[@]} -gt 0 ] || stages=("${all[@]}")
for name in "${stages[@]}"; do
  [[ " ${all[*]} " == *" $name "* ]] || fail 2 "no stage \"$name\": there are ${all[*]}"
done
old=$(commit "${words[0]}")
new=$(commit "${words[1]}")

builds=${RETSTACK_COMPARE:-${TMPDIR:-/tmp}/retstack-compare-$(id -un)}
mkdir -p "$builds"
builds=$(readlink -f "$builds")
exec 8>"$builds/lock"
flock 8 # two comparisons at once measure each other
prepare "$old"
prepare "$new"
work=$(mktemp -d "$builds/run.XXXXXX")
trap 'rm -rf "$work"' EXIT
if [[ " ${stages[*]} " == *" record "* ]] && ! empty_program; then
  say "stage record is left out: ${CC:-cc} compiles no program here"
  stages=("${stages[@]/record/}")
fi
for ((pair = 1; pair <= pairs; pair++)); do
  say "pair $pair of $pairs"
  for side in old new; do
    for name in "${stages[@]}"; do
      [ -n "$name" ] || continue
      stage "$name" "$builds/${!side}" | sed "s/^/$pair\t$side\t/" >>"$work/figures" ||
        say "stage $name does not run in $side, ${!side}: $(tail -n 1 "$work/log")"
    done
  done
done
printf 'old: %s\nnew: %s\n' "$(git -C "$root" log -1 --format='%h %s' "$old")" "$(git -C "$root" log -1 --format='%h %s' "$new")"
cp "$work/figures" "$builds/figures"
table "$work/figures"
