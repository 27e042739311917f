#!/bin/sh
# Compiles a C file for this host, into a library that is found on the class path: build.sh FILE.c LIBRARY.so.
# Without a C compiler, or on another system than Linux, it makes nothing and says so; who loads it does without.
set -eu
source=$1
target=$2
compiler=${CC:-cc}

[ "$(uname -s)" = Linux ] || { echo "$source: not for $(uname -s); we do without"; exit 0; }
command -v "$compiler" > /dev/null || { echo "$source: no C compiler ($compiler) found; we do without"; exit 0; }
[ -f "$target" ] && [ -z "$(find "$(dirname "$source")" "$0" -newer "$target" -type f)" ] && exit 0
mkdir -p "$(dirname "$target")"
"$compiler" -std=gnu11 -O2 -fno-plt -Wall -Wextra -Werror -fPIC -fvisibility=default -shared -o "$target.new" "$source"
mv "$target.new" "$target"
