#!/usr/bin/env bash
# The test command, which ./retstack test runs: deploy/test.sh N MAVEN... [arguments], with N words of Maven's. "--help"
# explains it.
set -euo pipefail

root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
rows=$root/deploy/campaign
logs=$root/target/campaign
maven=("${@:2:$1}")
shift $(($1 + 1))
exec </dev/null # Maven fails where standard input is a pipe that has ended

usage() {
  cat <<'END'
Usage: ./retstack test [--no-install] [MAVEN OPTION...]
       ./retstack test --campaign [--no-install] [--minutes N] [ROW...] [MAVEN OPTION...]
       ./retstack test --list

The first form runs every behaviour once. It takes about eight minutes on two cores. The last
lines name the ten slowest classes and, by reason, how many tests were skipped.

Both forms first install the compilers and tools that tests use (deploy/packages), as root on
Debian or Ubuntu. Another user sees the command that would. Tests that miss a tool are skipped.

  --no-install  install nothing

The second form runs the long tests: style and compiler checks, many seeds, all levels of
optimisation, chaos, soak, fuzz, hostile records. It prints a table of the rows at the end.

  --minutes N   start only rows that fit in N minutes. Rows marked "always" come first and run
                in any case. Which comes next depends on the sources, so other sources run others.
  ROW...        run these rows only
  --list        list the rows: name, minutes, tests, properties

Rows are lines of deploy/campaign. More options go to Maven, such as -Dretstack.seed=S.
Exit codes: 0 all passed, 1 something failed (the table names the log), 2 wrong arguments.
END
}

# Rows without comments: name, minutes and perhaps "always", module, tests, properties, a command before; separated by "|".
list() { sed -e '/^#/d' -e '/^ *$/d' -e 's/ *| */|/g' -e "s#@root@#$root#g" "$rows"; }

# Prints results by module, the ten slowest classes, and the skipped tests with their reasons.
# The reports of surefire are newer than the file $1.
summary() {
  local since=$1
  find "$root" -path '*/target/surefire-reports/TEST-*.xml' -newer "$since" -print0 | sort -z |
    xargs -0 -r awk -v root="$root/" '
    function value(name,   text) {
      if (!match($0, " " name "=\"[^\"]*\"")) return ""
      text = substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 4)
      gsub(/&lt;/, "<", text); gsub(/&gt;/, ">", text); gsub(/&quot;/, "\"", text); gsub(/&#10;/, " ", text)
      gsub(/&apos;/, "\047", text); gsub(/&amp;/, "\\&", text)
      return text
    }
    /<testsuite / {
      module = FILENAME; sub(root, "", module); sub(/\/target\/.*/, "", module)
      if (!(module in run)) order[++modules] = module
      run[module] += value("tests"); failed[module] += value("failures"); errors[module] += value("errors")
      skipped[module] += value("skipped")
      suite = value("name"); sub(/.*\./, "", suite); seconds[module " " suite] += value("time")
    }
    /<testcase / { test = value("name"); sub(/[({\[].*/, "", test); class = value("classname"); sub(/.*\./, "", class) }
    /<skipped/ {
      reason = value("message")
      if (reason == "") { reason = $0; sub(/.*CDATA\[/, "", reason); sub(/\]\]>.*/, "", reason) }
      if (reason ~ /TestAbortedException: *$/ && (getline line) > 0) reason = line
      sub(/^.*(Assumption failed|TestAbortedException): /, "", reason); sub(/^skipped: /, "", reason)
      if (!(reason in untried)) kinds++
      untried[reason]++
      if (!((reason, class) in seen)) classes[reason] = classes[reason] (classes[reason] == "" ? "" : ", ") class
      seen[reason, class] = 1
    }
    END {
      for (i = 1; i <= modules; i++) {
        m = order[i]
        printf "%-22s Tests run: %d, Failures: %d, Errors: %d, Skipped: %d\n", m, run[m], failed[m], errors[m], skipped[m]
        all += run[m]; bad += failed[m]; worse += errors[m]; left += skipped[m]
      }
      printf "%-22s Tests run: %d, Failures: %d, Errors: %d, Skipped: %d\n", "all modules", all, bad, worse, left
      print "\nThe ten slowest classes, seconds:"
      for (one = 1; one <= 10; one++) {
        slowest = ""
        for (s in seconds) if (slowest == "" || seconds[s] > seconds[slowest]) slowest = s
        if (slowest == "") break
        name = slowest; sub(/.* /, "", name); printf "%8.1f  %s\n", seconds[slowest], name; delete seconds[slowest]
      }
      if (kinds) printf "\nSkipped: %d of %d tests, by reason:\n", left, all
      for (one = 1; one <= kinds; one++) {
        most = ""
        for (r in untried) if (most == "" || untried[r] > untried[most] || untried[r] == untried[most] && r < most) most = r
        printf "%8d  %s (%s)\n", untried[most], most, classes[most]; delete untried[most]
      }
      exit bad + worse > 0
    }'
}

# Every behaviour once. Style and compiler checks belong to the campaign: they cost as much as compiling. A test that
# fails does not end the build, as the modules behind it would not be tried. Neither does a JVM that dies, so look for it.
test_once() {
  local status=0 since=$root/target/test.since log=$root/target/test.log
  mkdir -p "$root/target"
  touch "$since"
  TIMEFORMAT=$'\n%0lR, CPU %0lU user and %0lS system'
  time "${maven[@]}" -f "$root/pom.xml" -B -ntp -T 2 -Dquick -Dspotless.check.skip -Dmaven.test.failure.ignore \
    --fail-at-end verify "$@" > >(tee "$log") 2>&1 || status=$?
  summary "$since" || status=1
  if grep -E '^\[ERROR\].*(The forked VM terminated|There was a timeout|ExecutionException)' "$log"; then status=1; fi
  [ "$status" = 0 ] && echo "BUILD SUCCESS" || echo "BUILD FAILURE: see target/test.log"
  return "$status"
}

# Runs one row; prints its result: passed, skipped or FAILED.
run_row() {
  local name=$1 minutes=$2 module=$3 tests=$4 properties=$5 before=$6 property ran
  shift 6
  local log=$logs/$name.log goals=(test "-Dtest=$tests" -Dsurefire.failIfNoSpecifiedTests=false -Dspotless.check.skip)
  if [ "$tests" = - ]; then # compiles all anew, so that every check of the compiler sees every file
    find "$root"/{schemas,emulators,pipeline,deploy} \( -path '*/target/classes' -o -path '*/target/test-classes' \
      -o -path '*/target/maven-status' \) -prune -exec rm -rf {} +
    goals=(test-compile)
  fi
  [ "$module" = . ] || goals+=(-pl "$module" -am)
  # long tests of the emulators compute for minutes: here the better compiler pays
  case "$module" in emulators/machine | emulators/fleet) goals+=(-Dretstack.test.jit=-XX:+UseSerialGC) ;; esac
  for property in $properties; do goals+=("-D$property"); done
  if [ -n "$before" ] && ! (cd "$root" && eval "$before") >"$log" 2>&1; then
    echo FAILED
    return
  fi
  # a row that hangs ends with a thread dump rather than with the build
  if ! "${maven[@]}" -f "$root/pom.xml" -B -ntp "-Dsurefire.timeout=$((minutes * 240 + 300))" "${goals[@]}" "$@" >>"$log" 2>&1; then
    echo FAILED
  elif [ "$tests" = - ]; then
    echo passed
  else
    ran=$(sed -n 's/.*Tests run: \([0-9]*\), .*Skipped: \([0-9]*\)$/\1 \2/p' "$log" | tail -n 1)
    case "$ran" in
      "") echo FAILED ;; # the row names no test
      "${ran% *} ${ran% *}") echo skipped ;;
      *) echo passed ;;
    esac
  fi
}

# What went wrong in a row, for a reader who has no more than this output.
why() {
  grep -E '^\[ERROR\]|seed' "$logs/$1.log" | grep -v '^\[ERROR\] *$' | cut -c 1-400 | head -n 40
}

campaign() {
  local minutes=0 wanted=() options=() line name took tests properties before module result all=() always=() first=0
  local status=0 tree
  local started=$SECONDS begun table=()
  while [ $# -gt 0 ]; do
    case "$1" in
      --minutes)
        minutes=${2:-}
        [[ $minutes =~ ^[1-9][0-9]*$ ]] || { echo "retstack: --minutes: a number of minutes, not \"$minutes\"" >&2; exit 2; }
        shift
        ;;
      -*) options+=("$1") ;;
      *) wanted+=("$1") ;;
    esac
    shift
  done
  mapfile -t all < <(list)
  for name in ${wanted[@]+"${wanted[@]}"}; do
    printf '%s\n' "${all[@]}" | grep -q "^$name|" || { echo "retstack: no row \"$name\": see ./retstack test --list" >&2; exit 2; }
  done
  # the checks of the compiler are the very first, since all other rows need what they compile
  mapfile -t always < <(list | grep '^[^|]*|[0-9]* always|')
  mapfile -t all < <(list | grep -v '^[^|]*|[0-9]* always|')
  if [ "$minutes" != 0 ] && tree=$(git -C "$root" rev-parse --verify --quiet 'HEAD^{tree}'); then
    first=$((16#${tree:0:12} % ${#all[@]}))
  fi
  all=("${always[@]}" "${all[@]:first}" "${all[@]:0:first}")
  rm -rf "$logs"
  mkdir -p "$logs"
  for line in "${all[@]}"; do
    IFS='|' read -r name took module tests properties before <<<"$line"
    if [ ${#wanted[@]} -gt 0 ] && [[ " ${wanted[*]} " != *" $name "* ]]; then continue; fi
    begun=$SECONDS
    if [ "$minutes" != 0 ] && [[ "$took" != *always ]] && [ $((SECONDS - started + took * 60)) -gt $((minutes * 60)) ]; then
      result="not run: it takes $took min"
    else
      echo "campaign: $name (${took%% *} min)" >&2
      result=$(run_row "$name" "${took%% *}" "$module" "$tests" "$properties" "$before" ${options[@]+"${options[@]}"})
      if [ "$result" = FAILED ]; then
        status=1
        result="FAILED: see target/campaign/$name.log"
        why "$name" >&2
      fi
    fi
    table+=("$(printf '%-22s %-44s %-58s %7d  %s' "$name" "$tests" "$properties" $((SECONDS - begun)) "$result")")
  done
  printf '\n%-22s %-44s %-58s %7s  %s\n' ROW TESTS "HOW MUCH" SECONDS RESULT
  printf '%s\n' "${table[@]}"
  sed -n 's/^campaign: //p' "$logs"/*.log 2>/dev/null || true # what rows say that never fail
  return "$status"
}

arguments=()
for argument; do [ "$argument" = --no-install ] || arguments+=("$argument"); done
set -- ${arguments[@]+"${arguments[@]}"}
case " $* " in
  *" --help "* | *" -h "*) usage ;;
  *" --list "*)
    { echo 'ROW|MINUTES||TESTS|PROPERTIES' && list; } | awk -F '|' '{ printf "%-24s %-10s %-60s %s\n", $1, $2, $4, $5 }'
    ;;
  " --campaign "*)
    shift
    campaign "$@"
    ;;
  *) test_once "$@" ;;
esac
