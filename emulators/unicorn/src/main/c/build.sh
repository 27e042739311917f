#!/bin/sh
# Compiles a C file for this host, into a library that is found on the class path: build.sh FILE.c LIBRARY.so.
# Without a C compiler that links, it makes nothing and says so; who loads it does without.
set -eu
source=$1
target=$2

"$(dirname "$0")/../../../../../deploy/setup.sh" compiler || { echo "$source: no C compiler that links; we do without"; exit 0; }
[ -f "$target" ] && [ -z "$(find "$(dirname "$source")" "$0" -newer "$target" -type f)" ] && exit 0
mkdir -p "$(dirname "$target")"
"${CC:-cc}" -std=gnu11 -O2 -fno-plt -Wall -Wextra -Werror -fPIC -fvisibility=default -shared -o "$target.new" "$source"
mv "$target.new" "$target"
