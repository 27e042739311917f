#!/bin/sh
# Lays out what the command needs without a checkout: collect.sh DIR [INSTALLED]
#   DIR/lib        all jars, numbered in the order of the class path
#   DIR/classpath  that class path, for jars in INSTALLED/lib (default: /opt/retstack)
#   DIR/long-runs.args  flags of the JVM
# Run after "mvn package", at the top of the repository.
set -eu
out=${1:?usage: collect.sh DIR [INSTALLED]}
installed=${2:-/opt/retstack}
target=deploy/cli/target
[ -s "$target/classpath" ] || {
  echo "collect.sh: no $target/classpath: run mvn package first, at the top of the repository" >&2
  exit 4
}
mkdir -p "$out/lib"
number=100
classpath=
for jar in "$target/retstack-cli.jar" $(tr ':' ' ' <"$target/classpath"); do
  number=$((number + 1))
  name=$number-$(basename "$jar")
  cp "$jar" "$out/lib/$name"
  classpath=$classpath${classpath:+:}$installed/lib/$name
done
printf '%s' "$classpath" >"$out/classpath"
cp "$(dirname "$0")/../long-runs.args" "$out"
