#!/usr/bin/env bash
# Sets up what retstack needs besides its own code.
#
#   deploy/setup.sh libunicorn   libunicorn and its headers in the per-user cache; quiet if there
#   deploy/setup.sh jdk          prints the home of a JDK 25
#
# Exit codes: 0 present, 2 usage, 4 missing and not available (the message says what to do).
set -euo pipefail

readonly UNICORN_VERSION=2.1.4
readonly JDK_VERSION=25
readonly CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/retstack
readonly UNICORN_DIR=$CACHE/unicorn-$UNICORN_VERSION
readonly PINS=$(dirname "${BASH_SOURCE[0]}")/../emulators/unicorn/src/main/resources/dev/retstack/unicorn/library/libunicorn.sha256

say() { printf 'retstack: %s\n' "$*" >&2; }

fail() {
  say "$*"
  exit 4
}

library_name() {
  case $(uname -s) in
    Darwin) echo libunicorn.2.dylib ;;
    *) echo libunicorn.so.2 ;;
  esac
}

# ---- libunicorn

# Prints the version of a library that loads; fails for one that does not.
library_version() {
  python3 - "$1" <<'PY'
import ctypes, sys
try:
    packed = ctypes.CDLL(sys.argv[1]).uc_version(None, None)
except (OSError, AttributeError) as e:
    sys.exit(str(e))
print("%d.%d.%d" % (packed >> 24 & 255, packed >> 16 & 255, packed >> 8 & 255))
PY
}

# Prints this machine as a JVM and the pins name it: linux-amd64.
platform() {
  local system machine
  system=$(uname -s) machine=$(uname -m)
  [[ $machine != arm64 ]] || machine=aarch64
  [[ $system-$machine != Linux-x86_64 ]] || machine=amd64
  printf '%s-%s\n' "$system" "$machine" | tr '[:upper:]' '[:lower:]'
}

# Prints a field of this machine's pins: 2 is the wheel's, 3 the library's; nothing if there are none.
pin() { awk -v platform="$(platform)" -v field="$1" '$1 == platform { print $field }' "$PINS"; }

# Ends the script if file $1 does not have the SHA-256 $2.
require_sha256() {
  local is
  is=$(python3 -c 'import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest())' "$1")
  [[ $is == "$2" ]] ||
    fail "${1##*/} is not the pinned one: its SHA-256 is $is, pinned is $2: use an index that serves the original" \
      "unicorn==$UNICORN_VERSION, or set RETSTACK_LIBUNICORN to a library that you trust"
}

# Runs the first pip that exists.
pip_command() {
  if python3 -m pip --version >/dev/null 2>&1; then
    python3 -m pip "$@"
  else
    pip3 "$@"
  fi
}

# Downloads the wheel and lays it out in directory $1; pip's own words go to file $2.
fetch_unicorn() {
  local work=$1 log=$2 lib
  lib=$(library_name)
  pip_command download --quiet --no-deps --only-binary=:all: --dest "$work/wheel" \
    "unicorn==$UNICORN_VERSION" >"$log" 2>&1 || return 1
  require_sha256 "$work"/wheel/unicorn-*.whl "$(pin 2)"
  python3 -m zipfile -e "$work"/wheel/unicorn-*.whl "$work/unpacked" >>"$log" 2>&1 || return 1
  require_sha256 "$work/unpacked/unicorn/lib/$lib" "$(pin 3)"
  mkdir "$work/ready"
  mv "$work/unpacked/unicorn/lib/$lib" "$work/unpacked/unicorn/include" "$work/ready/" \
    2>>"$log" || return 1
  library_version "$work/ready/$lib" >>"$log" 2>&1
}

# Puts directory $1 in place in one step. If another run was faster, its result is as good; an
# incomplete directory, which this script never makes, gives way.
install_unicorn() {
  python3 - "$1" "$UNICORN_DIR" "$(library_name)" <<'PY'
import os, sys
ready, place, library = sys.argv[1:]
try:
    os.rename(ready, place)
except OSError:
    if not os.path.isfile(os.path.join(place, library)) or not os.path.isdir(os.path.join(place, "include")):
        os.rename(place, ready + ".incomplete")
        os.rename(ready, place)
PY
}

# Accepts a library of the system, with a warning if it is not the wanted version.
accept_system_unicorn() {
  local version
  version=$(library_version "$(library_name)" 2>/dev/null) || return 1
  [[ $version == "$UNICORN_VERSION" ]] && return 0
  say "warning: using the system's libunicorn $version in place of $UNICORN_VERSION:" \
    "an older one is slower and some guest bytes abort the process;" \
    "to mend it make 'pip download unicorn==$UNICORN_VERSION' work and run this again"
}

setup_libunicorn() {
  [[ -n ${RETSTACK_LIBUNICORN:-} && -f $RETSTACK_LIBUNICORN ]] && return 0
  [[ -f $UNICORN_DIR/$(library_name) && -d $UNICORN_DIR/include ]] && return 0

  command -v python3 >/dev/null ||
    fail "no python3: install python3 and pip (Debian: apt-get install python3-pip)," \
      "or set RETSTACK_LIBUNICORN to a libunicorn $UNICORN_VERSION"
  if [[ -z $(pin 2) ]]; then
    accept_system_unicorn && return 0
    fail "no pinned libunicorn for $(platform): set RETSTACK_LIBUNICORN to a libunicorn $UNICORN_VERSION that you trust"
  fi
  mkdir -p "$CACHE"
  local work
  work=$(mktemp -d "$CACHE/setup.XXXXXX")
  # shellcheck disable=SC2064 # the directory of now
  trap "rm -rf '$work'" EXIT
  if fetch_unicorn "$work" "$work/log"; then
    install_unicorn "$work/ready"
    say "libunicorn $UNICORN_VERSION is in $UNICORN_DIR"
  elif accept_system_unicorn; then
    return 0
  else
    tail -n 5 "$work/log" >&2
    fail "no libunicorn: pip could not fetch unicorn==$UNICORN_VERSION (above) and the system has" \
      "none: give pip a network or an index, or set RETSTACK_LIBUNICORN to the library file"
  fi
}

# ---- JDK

# Succeeds if $1 is the home of a JDK of the wanted version.
is_jdk() {
  [[ -x $1/bin/javac && -f $1/release ]] &&
    grep -q "^JAVA_VERSION=\"${JDK_VERSION}[.\"+-]" "$1/release"
}

# Prints every place where a JDK may be, best first.
jdk_places() {
  [[ -z ${JAVA_HOME:-} ]] || echo "$JAVA_HOME"
  local place java
  for place in /usr/lib/jvm/* /opt/java/* /opt/jdk* "${SDKMAN_DIR:-$HOME/.sdkman}"/candidates/java/*; do
    [[ ! -d $place ]] || echo "$place"
  done
  if [[ -x /usr/libexec/java_home ]]; then
    /usr/libexec/java_home -v "$JDK_VERSION" 2>/dev/null || true
  fi
  if java=$(command -v java); then
    java=$(readlink -f "$java" 2>/dev/null || echo "$java")
    dirname "$(dirname "$java")"
  fi
}

find_jdk() {
  local place
  while IFS= read -r place; do
    if is_jdk "$place"; then
      echo "$place"
      return 0
    fi
  done < <(jdk_places)
  fail "no JDK $JDK_VERSION: searched JAVA_HOME, /usr/lib/jvm, /opt, SDKMAN and PATH:" \
    "install one (Eclipse Temurin, or 'sdk install java $JDK_VERSION-tem') or set JAVA_HOME to it"
}

case ${1:-} in
  libunicorn) setup_libunicorn ;;
  jdk) find_jdk ;;
  *)
    say "usage: deploy/setup.sh libunicorn | jdk"
    exit 2
    ;;
esac
