#!/usr/bin/env bash
# Sets up what retstack needs besides its own code. Linux only.
#
#   deploy/setup.sh jdk          prints the home of a JDK 25
#   deploy/setup.sh libunicorn   libunicorn and its headers in the per-user cache; quiet if there
#   deploy/setup.sh run|test     installs the Debian packages that verbs or tests need (deploy/packages); as a user
#                                other than root, or with RETSTACK_INSTALL=no, names the command that would
#   deploy/setup.sh compiler     succeeds if there is a C compiler that links
#   deploy/setup.sh missing      lists what "run test" would install, one line each: packages: what is left out
#
# Exit codes: 0 present, 2 usage, 4 missing and not available (the message says what to do).
set -euo pipefail

readonly UNICORN_VERSION=2.1.4
readonly JDK_VERSION=25
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
readonly here
readonly LIBRARY=libunicorn.so.2
readonly CACHE=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}/retstack
readonly UNICORN_DIR=$CACHE/unicorn-$UNICORN_VERSION
readonly PINS=$here/../emulators/unicorn/src/main/resources/dev/retstack/unicorn/library/libunicorn.sha256

say() { printf 'retstack: %s\n' "$*" >&2; }

fail() {
  say "$*"
  exit 4
}

# ---- packages of the system

# Succeeds if a command compiles and links an empty program.
links() {
  printf '#include <stdlib.h>\nint main(void) { return EXIT_SUCCESS; }\n' |
    "$@" -x "$([[ $* == *c++* ]] && echo c++ || echo c)" -o /dev/null - 2>/dev/null
}

# Succeeds if what a line of the list asks for is there.
is_there() {
  local command
  case $1 in
    links) links "${@:2}" ;;
    pip) has_libunicorn || pip_command --version >/dev/null 2>&1 ;;
    command) for command in "${@:2}"; do type -P "$command" >/dev/null || return 1; done ;;
  esac
}

# Prints the lines of the list for users "$@" that are missing, as packages|what is left out.
missing_packages() {
  local machine who packages check without
  while IFS='|' read -r who packages check without; do
    [[ $who != *:* ]] || { machine=${who%%:*} who=${who#*:} && [[ $machine == "$(uname -m)" ]] || continue; }
    read -r who <<<"$who"
    [[ " $* " == *" $who "* ]] || continue
    read -ra check <<<"$check"
    is_there "${check[@]}" && continue
    read -r packages <<<"${packages//@gcc@/$(gcc -dumpversion 2>/dev/null || echo 12)}"
    read -r without <<<"$without"
    printf '%s|%s\n' "$packages" "$without"
  done < <(grep -v '^ *\(#\|$\)' "$here/packages")
}

apt() { DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 "$@" </dev/null; }

# Packages that another one must make room for are left out: to remove what a user installed is not ours to do.
install() { apt install -y --no-install-recommends --no-remove "$@"; }

# Installs what is missing for the users "$@", in one line to the user. Always succeeds: who needs it says so.
setup_packages() {
  local missing packages lines line log
  missing=$(missing_packages "$@")
  [[ -n $missing ]] || return 0
  packages=$(cut -d '|' -f 1 <<<"$missing" | tr '\n' ' ')
  packages=${packages% }
  if ! command -v apt-get >/dev/null; then
    say "missing, by their names in Debian: $packages"
  elif [[ $(id -u) != 0 ]]; then
    say "missing packages: to install them: sudo apt-get install --no-install-recommends $packages"
  elif [[ ${RETSTACK_INSTALL:-yes} == no ]]; then
    say "missing packages: to install them: apt-get install --no-install-recommends $packages"
  else
    say "installing $packages (--no-install leaves them out)"
    log=$(mktemp)
    apt update >"$log" 2>&1 || true
    # shellcheck disable=SC2086 # several packages
    if ! install $packages >>"$log" 2>&1; then
      # one that cannot be had, or that excludes another, keeps nobody else away
      mapfile -t lines < <(cut -d '|' -f 1 <<<"$missing")
      for line in "${lines[@]}"; do install $line >>"$log" 2>&1 || say "could not install $line: $(grep '^E:' "$log" | tail -n 1)"; done
    fi
    rm -f "$log"
  fi
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
  local machine
  machine=$(uname -m)
  [[ $machine != x86_64 ]] || machine=amd64
  printf 'linux-%s\n' "$machine"
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
  local work=$1 log=$2
  pip_command download --quiet --no-deps --only-binary=:all: --dest "$work/wheel" \
    "unicorn==$UNICORN_VERSION" >"$log" 2>&1 || return 1
  require_sha256 "$work"/wheel/unicorn-*.whl "$(pin 2)"
  python3 -m zipfile -e "$work"/wheel/unicorn-*.whl "$work/unpacked" >>"$log" 2>&1 || return 1
  require_sha256 "$work/unpacked/unicorn/lib/$LIBRARY" "$(pin 3)"
  mkdir "$work/ready"
  mv "$work/unpacked/unicorn/lib/$LIBRARY" "$work/unpacked/unicorn/include" "$work/ready/" \
    2>>"$log" || return 1
  library_version "$work/ready/$LIBRARY" >>"$log" 2>&1
}

# Puts directory $1 in place in one step. If another run was faster, its result is as good; an
# incomplete directory, which this script never makes, gives way.
install_unicorn() {
  python3 - "$1" "$UNICORN_DIR" "$LIBRARY" <<'PY'
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
  version=$(library_version "$LIBRARY" 2>/dev/null) || return 1
  [[ $version == "$UNICORN_VERSION" ]] && return 0
  say "warning: using the system's libunicorn $version in place of $UNICORN_VERSION:" \
    "an older one is slower and some guest bytes abort the process;" \
    "to mend it make 'pip download unicorn==$UNICORN_VERSION' work and run this again"
}

has_libunicorn() {
  [[ -n ${RETSTACK_LIBUNICORN:-} && -f $RETSTACK_LIBUNICORN ]] ||
    [[ -f $UNICORN_DIR/$LIBRARY && -d $UNICORN_DIR/include ]]
}

setup_libunicorn() {
  has_libunicorn && return 0
  setup_packages run
  command -v python3 >/dev/null ||
    fail "no libunicorn, and no python3 that would fetch it: install python3 and pip (above), or set" \
      "RETSTACK_LIBUNICORN to a libunicorn $UNICORN_VERSION"
  if [[ -z $(pin 2) ]]; then
    accept_system_unicorn && return 0
    fail "no pinned libunicorn for $(platform): set RETSTACK_LIBUNICORN to a libunicorn $UNICORN_VERSION that you trust"
  fi
  mkdir -p "$CACHE" 2>/dev/null && [[ -w $CACHE ]] ||
    fail "cannot write to $CACHE, where libunicorn is to be: set XDG_CACHE_HOME to a folder that you may write to"
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
    grep -v '^WARNING' "$work/log" | tail -n 5 >&2 || true
    fail "no libunicorn: pip could not fetch unicorn==$UNICORN_VERSION (above) and the system has none: give pip a" \
      "network, a proxy (https_proxy) or an index (pip config), or set RETSTACK_LIBUNICORN to the library file"
  fi
}

# ---- JDK

# Succeeds if $1 is the home of a JDK of the wanted version.
is_jdk() {
  [[ -x $1/bin/javac && -f $1/release ]] &&
    grep -q "^JAVA_VERSION=\"${JDK_VERSION}[.\"+-]" "$1/release"
}

# Prints the home of a JDK, from the best place that has one; fails if there is none.
jdk_home() {
  local place java
  java=$(readlink -f "$(command -v java || true)" 2>/dev/null) || java=
  java=${java%/bin/java}
  for place in "${JAVA_HOME:-}" /usr/lib/jvm/* /opt/java/* /opt/jdk* "${HOME:-}"/.jdks/* \
    "${SDKMAN_DIR:-${HOME:-}/.sdkman}"/candidates/java/* "$java"; do
    if [[ -n $place ]] && is_jdk "$place"; then
      echo "$place"
      return 0
    fi
  done
  return 1
}

readonly NO_JDK="no JDK $JDK_VERSION: searched JAVA_HOME, /usr/lib/jvm, /opt, ~/.jdks, SDKMAN and PATH"

# Debian 12 has none: the lines add the archive of Eclipse Temurin.
get_jdk() {
  local release
  release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release 2>/dev/null) || release=
  printf '  %s\n' \
    "apt-get install -y wget" \
    "wget -O /etc/apt/keyrings/adoptium.asc https://packages.adoptium.net/artifactory/api/gpg/key/public" \
    "echo 'deb [signed-by=/etc/apt/keyrings/adoptium.asc] https://packages.adoptium.net/artifactory/deb ${release:-bookworm} main' >/etc/apt/sources.list.d/adoptium.list" \
    "apt-get update && apt-get install -y temurin-$JDK_VERSION-jdk"
}

find_jdk() {
  jdk_home && return 0
  say "$NO_JDK: set JAVA_HOME to one, or install one, such as on Debian, as root:"
  get_jdk >&2
  exit 4
}

[[ $(uname -s) == Linux ]] ||
  fail "retstack runs on Linux only, and this is $(uname -s): use a virtual machine or a container with Linux"
case ${1:-} in
  jdk) find_jdk ;;
  libunicorn) setup_libunicorn ;;
  run | test) setup_packages "$@" ;;
  compiler) links "${CC:-cc}" ;;
  missing) missing_packages run test | sed 's/|/: /' ;;
  *)
    say "usage: deploy/setup.sh jdk | libunicorn | run | test | compiler | missing"
    exit 2
    ;;
esac
