#!/bin/sh
# Compiles the probe for this host: build.sh DIR makes DIR/libretstack-probe.so.
# Without a C compiler, or on another system than Linux, it makes nothing and says so: the probe in Java takes over.
set -eu
folder=$(dirname "$0")
target=$1/libretstack-probe.so
compiler=${CC:-cc}

[ "$(uname -s)" = Linux ] || { echo "probe in C: not for $(uname -s); the probe in Java takes over"; exit 0; }
command -v "$compiler" > /dev/null ||
  { echo "probe in C: no C compiler ($compiler) found; the probe in Java takes over"; exit 0; }
[ -f "$target" ] && [ -z "$(find "$folder" -newer "$target" -type f)" ] && exit 0
mkdir -p "$1"
"$compiler" -std=gnu11 -O2 -fno-plt -Wall -Wextra -Werror -fPIC -fvisibility=default -shared -o "$target.new" "$folder/probe.c"
mv "$target.new" "$target"
