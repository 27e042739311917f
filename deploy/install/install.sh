#!/usr/bin/env bash
# Lays out a folder from which retstack runs without a checkout. Nothing writes to it, so that any user can run it.
#
#   deploy/install/install.sh [--prefix DIR] [--destdir DIR] [--systemd] [--with-java] [--no-emulators] [--archives LIST]
#
#   --prefix DIR     where the folder will be (default: /opt/retstack); it may be moved later
#   --destdir DIR    lay all out below DIR, for a package or an image
#   --systemd        also units, their user, and examples of their settings: /etc/systemd/system, /etc/sysusers.d and
#                    /etc/retstack. Settings that are there stay
#   --with-java      a copy of the JDK in place of a link, for machines without one
#   --no-emulators   neither libunicorn nor guest images: for members of the pipeline
#   --archives LIST  class archives to make (default: classes,record,servers,view)
#
# The folder:
#   retstack                     the command; jvm.args and jvm.sh hold its JVM flags
#   lib/                         jars, numbered in the order of the class path
#   java                         the JDK
#   *.aot, servers.jsa           class archives, one for each group of verbs: starts take half the time; the JVM
#                                refuses them for other jars
#   zstd.so                      the library of zstd, which its jar would unpack at each start
#   emulators/                   libunicorn, images of guests
#   fleet.conf, secrets.sh       an example of a fleet; a token and a certificate for a trial
#
# First it builds what is older than its sources, as the owner of the checkout.
# Exit codes: 0 done, 2 usage, 4 something is missing or in the way (the message says what to do).
set -euo pipefail
umask 022

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
target=$root/deploy/cli/target
. "$root/deploy/install/jvm.sh"
prefix=/opt/retstack destdir='' systemd=no with_java=no emulators=yes

fail() {
  printf 'retstack: %s\n' "${*:2}" >&2
  exit "$1"
}

while [ $# -gt 0 ]; do
  case $1 in
    --prefix | --destdir) [ $# -gt 1 ] || fail 2 "$1: name a folder" ;;&
    --archives)
      [[ ${2:-} =~ ^((classes|record|servers|view)(,|$))+$ ]] ||
        fail 2 "--archives ${2:-}: give some of classes,record,servers,view, separated by commas"
      archives=$(for file in $archives; do case ,$2, in *,"${file%.*}",*) echo "$file" ;; esac done)
      shift
      ;;
    --prefix) prefix=${2%/} && shift ;;
    --destdir) destdir=$(realpath -m -- "$2") && shift ;;
    --systemd) systemd=yes ;;
    --with-java) with_java=yes ;;
    --no-emulators) emulators=no ;;
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p}' "$0" && exit ;;
    *) fail 2 "no such option: $1: see deploy/install/install.sh --help" ;;
  esac
  shift
done
[[ $prefix =~ ^/[[:alnum:]/._+-]+$ ]] ||
  fail 2 "--prefix $prefix: give a path from / on, of letters, digits and . _ + - only: units name it"
folder=${destdir%/}$prefix
[ ! -e "$folder" ] || [ -z "$(ls -A "$folder")" ] || [ -e "$folder/jvm.args" ] ||
  fail 4 "$folder is no installation of retstack and not empty: give another --prefix"

# Builds as the owner of the checkout: root would leave files there that the owner cannot replace.
as_owner() {
  local owner
  owner=$(stat -c %U "$root")
  if [ "$(id -u)" = 0 ] && [ "$owner" != root ]; then
    runuser -u "$owner" -- env HOME="$(getent passwd "$owner" | cut -d : -f 6)" "$@"
  else
    "$@"
  fi </dev/null
}

lay_out_jars() {
  local jars jar number=100
  mkdir -p "$new/lib"
  IFS=: read -ra jars <"$target/classpath" || true
  for jar in "$target/retstack-cli.jar" "${jars[@]}"; do
    number=$((number + 1))
    jar=${jar/#@\//"$target/lib/"}
    install -m 644 "$jar" "$new/lib/$number-${jar##*/}"
  done
}

lay_out_emulators() {
  local library
  as_owner "$root/deploy/setup.sh" libunicorn
  library=$(as_owner "$root/retstack" doctor --format csv | sed -n 's/^libunicorn,[a-z]*,\(.*\) [0-9.]* ([a-z]*).*/\1/p')
  [ -n "$library" ] || fail 4 "no libunicorn: see ./retstack doctor, or leave emulation out with --no-emulators"
  mkdir -p "$new/emulators/guest"
  # one that the loader of the system finds by its name needs no copy
  [[ $library != /* ]] || install -m 644 "$library" "$new/emulators/libunicorn.so.2"
  cp -r "$root/emulators/guest/images" "$new/emulators/guest"
}

lay_out_java() {
  if [ $with_java = yes ]; then
    cp -rL "$java_home" "$new/java"
  else
    ln -s "$java_home" "$new/java"
    case $java_home in
      /home/* | /root/*) echo "retstack: the JDK is in $java_home, which services and other users do not see:" \
        "install one for all users, or add --with-java" >&2 ;;
    esac
  fi
}

lay_out_archives() {
  local classpath
  classpath=$(printf ':%s' "$new"/lib/*.jar)
  make_archives "$new" "$root/schemas/golden/v1/trace.avro" "$java_home/bin/java" "@$new/jvm.args" \
    "-Dretstack.root=$new" "-Dretstack.libunicorn=$new/emulators/libunicorn.so.2" "-DZstdNativePath=$new/zstd.so" \
    -cp "${classpath#:}"
}

lay_out_units() {
  local etc=$destdir/etc unit
  mkdir -p "$etc/systemd/system" "$etc/sysusers.d" "$etc/retstack"
  install -d -m 700 "$etc/retstack/secrets"
  for unit in "$root"/deploy/systemd/*.service; do
    sed "s#/opt/retstack/#$prefix/#" "$unit" >"$etc/systemd/system/${unit##*/}"
  done
  install -m 644 "$root/deploy/systemd/sysusers.conf" "$etc/sysusers.d/retstack.conf"
  setting 644 systemd/retstack.env retstack.env
  setting 644 fleet.conf example.conf
  setting 600 kafka.properties secrets/kafka.properties
}

# A file of the operator's: an example is copied where there is none.
setting() { [ -e "$destdir/etc/retstack/$3" ] || install -m "$1" "$root/deploy/$2" "$destdir/etc/retstack/$3"; }

as_owner "$root/retstack" --version >/dev/null
java_home=$(as_owner "$root/deploy/setup.sh" jdk)
new=$folder.new
rm -rf "$new"
trap 'rm -rf "$new"' EXIT
lay_out_jars
[ $emulators = no ] || lay_out_emulators
lay_out_java
install -m 755 "$root/deploy/install/retstack" "$root/deploy/secrets.sh" "$new"
install -m 644 "$root"/deploy/install/jvm.* "$root/deploy/fleet.conf" "$new"
prepare_jars "$new" "$java_home"
lay_out_archives
# in place in one step: what runs keeps the files that it has open
[ ! -e "$folder" ] || mv "$folder" "$folder.old"
mv "$new" "$folder"
rm -rf "$folder.old"
[ $systemd = no ] || lay_out_units
echo "retstack: $("$folder/retstack" --version | head -n 1) is in $folder" >&2
