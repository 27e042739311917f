# The JVM of each verb, for sh: read by ./retstack, by the command of an installation, and by install.sh.
# Figures: deploy/BENCHMARK-STAGES.md, "Start of a short verb" and "Live: the whole path".
# shellcheck shell=sh disable=SC2034 # who reads this uses the variables

# the first compiler alone: the better one costs one to two seconds of CPU
first_compiler='-XX:+UseSerialGC -XX:TieredStopAtLevel=1'
# and with a method five times as late: most of what a short verb does, it does once
short_run="$first_compiler -XX:Tier3InvocationThreshold=1000 -XX:Tier3MinInvocationThreshold=500 -XX:Tier3CompileThreshold=5000"
# The second compiler begins with a method ten times as late: it then compiles what is hot, not all that is warm, and in
# a short run next to nothing.
long_run='-XX:Tier4InvocationThreshold=50000 -XX:Tier4MinInvocationThreshold=10000 -XX:Tier4CompileThreshold=100000'

# A class archive makes each start two to three times as fast. Each group of verbs has one, as a large archive slows
# short verbs down. The JVM refuses an archive by itself once a jar changed.
archives='classes.aot record.aot servers.jsa view.aot'

# Sets for the command line "$@": archive, and flags, which are words without spaces.
choose_jvm() {
  archive=classes.aot flags=$short_run
  case ${1:-} in
    record | view) archive=$1.aot ;;
    broker | demo | emulate | pipeline | replay) archive=servers.jsa ;;
  esac
  case ${1:-} in
    broker) flags= ;;                              # minutes: the JVM's own choices
    record) flags="-XX:+UseSerialGC $long_run" ;; # a second, or minutes
    emulate | pipeline) flags=$long_run ;;
    bench) flags=$long_run ;;
    isa) [ $# -eq 1 ] || flags= ;;
    *) if is_big "$@"; then flags=$long_run; fi ;;
  esac
  # a member that is out of memory must end: what is left of it would keep its partitions, and do nothing
  case ${1:-} in broker | emulate | pipeline) flags="$flags -XX:+ExitOnOutOfMemoryError" ;; esac
}

# True where an argument is a file of over 16 MiB: a trace of some hundred million records is worth the better compiler.
# Of a window little is read.
is_big() {
  case " $* " in *" --at "* | *" --at="*) return 1 ;; esac
  for argument; do
    [ ! -f "$argument" ] || [ -z "$(find "$argument" -size +32768)" ] || return 0
  done
  return 1
}

# Prints the flag that uses ($2 empty) or makes archive $1.
archive_flag() {
  case $1 in
    *.jsa) [ -n "${2:-}" ] && echo "-XX:ArchiveClassesAtExit=$1" || echo "-XX:SharedArchiveFile=$1" ;;
    *) [ -n "${2:-}" ] && echo "-XX:AOTCacheOutput=$1" || echo "-XX:AOTCache=$1" ;;
  esac
}

# Makes archive $1 of folder $2, running once what users run of its group of verbs. $3 is a recorded trace; the rest is
# the JVM, with all but the class that it runs. An archive also says what was compiled in its training (JEP 515), and the
# JVM then compiles that at once. It helps "record"; other verbs would compile more than they use, and "bench" would keep
# the first compiler's code. Profiles of the second compiler make a short record half as slow again. Without an archive
# everything works, only slower: failure is no error.
make_archive() {
  (
    name=$1 folder=$2 trace=$3
    shift 3
    training=$first_compiler
    [ "$name" != classes.aot ] || training="$training -XX:+UnlockDiagnosticVMOptions -XX:-AOTRecordTraining"
    # shellcheck disable=SC2086 # several flags
    "$@" $training "$(archive_flag "$folder/new.$name" make)" dev.retstack.cli.ArchiveTraining "${name%.*}" "$trace" \
      "$folder/training/${name%.*}" >/dev/null 2>&1 </dev/null || true
    [ ! -e "$folder/new.$name" ] || mv "$folder/new.$name" "$folder/$name"
  )
}

# Makes the jars in folder $1/lib quicker to start with, with the JDK $2: the library of zstd is unpacked beside them, as
# its jar does it at each start else, and picocli's classes become such that an archive holds them.
prepare_jars() {
  (
    machine=$(uname -m)
    [ "$machine" != x86_64 ] || machine=amd64
    cd "$1" && rm -f zstd.so && "$2/bin/jar" --extract --file "$(echo lib/*zstd-jni*.jar)" "linux/$machine" &&
      mv linux/"$machine"/*.so zstd.so
    rm -rf linux
    "$2/bin/java" -cp '*:lib/*' dev.retstack.cli.OldClasses "$(echo lib/*picocli*.jar)"
  ) >/dev/null 2>&1 </dev/null || true
}

# Makes all archives of a folder, two at a time. Arguments as above, without the name.
make_archives() {
  rm -rf "$1"/*.jsa "$1"/*.aot "$1/training"
  for name in $archives; do
    make_archive "$name" "$@" &
    case $name in record*) wait ;; esac
  done
  wait
  rm -rf "$1/training"
}
