#!/usr/bin/env bash
# Fetches sources of foreign programs for ForeignSourcesTest, as this machine's Debian has them, and makes the files that
# their build would make first.
#
#   sources.sh DIR   DIR/<package>-<version>/; what cannot be fetched or made is named, and its program is skipped
#
# apt's settings and lists of this machine stay as they are: the lists of sources go below DIR.
set -euo pipefail

readonly PACKAGES=(bzip2 zlib lua5.4 sqlite3 pigz pbzip2 jq busybox)

if [ $# != 1 ]; then
  sed -n '5p' "$0" | cut -c3- >&2
  exit 2
fi
for tool in apt-get dpkg-source; do
  command -v $tool > /dev/null || { echo "no $tool: install dpkg-dev on a Debian" >&2 && exit 1; }
done
mkdir -p "$1"
cd "$1"

# The archives of this machine's binaries have their sources too.
settings() {
  mkdir -p apt/lists/partial apt/cache/archives/partial apt/parts
  local list
  for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    case $list in
      *.sources) sed -E 's/^(Types:).*/\1 deb-src/' "$list" > "apt/parts/${list##*/}" ;;
      *.list) [ ! -e "$list" ] || sed -nE 's/^deb /deb-src /p' "$list" > "apt/parts/${list##*/}" ;;
    esac
  done
  cat > apt/conf << END
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$PWD/apt/parts";
Dir::State::lists "$PWD/apt/lists";
Dir::Cache "$PWD/apt/cache";
APT::Sandbox::User "";
END
  export APT_CONFIG=$PWD/apt/conf
}

# fetch PACKAGE: a mirror may lack the newest version
fetch() {
  local version
  for version in $(apt-cache showsrc --only-source "$1" 2> /dev/null | sed -n 's/^Version: //p'); do
    if apt-get -qq source "$1=$version" > "apt/$1.log" 2>&1; then
      return 0
    fi
  done
  echo "no source of $1: see $PWD/apt/$1.log"
}

# reduced: busybox's files, and the headers that its build makes: all that is usual, but of the applets only those that
# need no process besides.
reduced() {
  local applets=' BUSYBOX AWK BUNZIP2 BZIP2 CUT DIFF GREP GUNZIP GZIP SED SHA256SUM SORT UNXZ XXD ' applet
  make defconfig
  grep -rhoE --include='*.c' '^//applet:IF_[A-Z0-9_]+' . | sed 's/.*IF_//' | sort -u | while read -r applet; do
    case $applets in
      *" $applet "*) ;;
      *) echo "s/^CONFIG_$applet=y/# CONFIG_$applet is not set/" ;;
    esac
  done > reduced.sed
  echo 's/^CONFIG_FEATURE_SUID=y/# CONFIG_FEATURE_SUID is not set/' >> reduced.sed # it asks who the user is
  sed -i -f reduced.sed .config
  make oldconfig < /dev/null
  make busybox
  printf '#define BB_VER "%s"\n' "${PWD##*-}" >> include/autoconf.h
  sed -nE "s|^([-a-z_0-9/]+)/[a-z]+\\.a\\((\\w+)\\.o\\).*|$PWD/\\1/\\2.c|p" busybox_unstripped.map | sort -u > linked
  echo "$PWD/libbb/bb_bswap_64.c" >> linked # of 32 bits
  mv linked files
}

# The command lines of ForeignSourcesTest compile one file of SQLite, and need no configure of jq.
generated() {
  local folder
  for folder in lua5.4-*/src/; do
    [ ! -d "$folder" ] || echo '#define DEB_HOST_MULTIARCH "none"' > "$folder/lua5.4-deb-multiarch.h"
  done
  for folder in sqlite3-*/; do
    if [ -d "$folder" ] && [ ! -e "$folder/sqlite3.c" ]; then
      (cd "$folder" && ./configure --disable-tcl --disable-readline && make sqlite3.c shell.c) > apt/sqlite3.log 2>&1 ||
        echo "no sqlite3.c (it takes tclsh): see $PWD/apt/sqlite3.log"
    fi
  done
  for folder in busybox-*/; do
    if [ -d "$folder" ] && [ ! -s "$folder/files" ]; then
      (cd "$folder" && reduced) > apt/busybox.log 2>&1 || true
      [ -s "$folder/files" ] || echo "busybox was not made: see $PWD/apt/busybox.log"
    fi
  done
  for folder in jq-*/; do
    if [ -d "$folder" ]; then
      sed 's/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$/\\n"/' "$folder/src/builtin.jq" > "$folder/src/builtin.inc"
      cat > "$folder/src/ieee.h" << 'END'
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define IEEE_MC68k
#else
#define IEEE_8087
#endif
END
      printf '#define JQ_VERSION "%s"\n' "$(basename "${folder#jq-}")" > "$folder/src/version.h"
    fi
  done
}

settings
apt-get -qq update || echo "not all lists were fetched"
for package in "${PACKAGES[@]}"; do
  compgen -G "$package-[0-9]*/" > /dev/null || fetch "$package"
done
generated
