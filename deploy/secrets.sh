#!/bin/sh
# Makes a token and a self-signed certificate for a trial: secrets.sh DIR [NAME...]
#   DIR/token  DIR/password  DIR/http.p12  DIR/ca.pem
# The certificate is for localhost, 127.0.0.1, pipeline-1, pipeline-2 and the NAMEs given. Existing files stay.
# On this machine only DIR's owner gets at the files, since nobody else may enter DIR. The files themselves are readable,
# because a container that gets one of them reads it as a user of the container.
# Needs keytool (of a JDK). For real use, take a certificate of your own CA instead.
set -eu
dir=${1:?usage: secrets.sh DIR [NAME...]}
shift
names=dns:localhost,ip:127.0.0.1,dns:pipeline-1,dns:pipeline-2
for name; do names=$names,dns:$name; done
[ -d "$dir" ] || (umask 077 && mkdir -p "$dir")
if [ -n "$(find "$dir" -prune -perm /077)" ]; then
  echo "secrets.sh: others may enter $dir: chmod 700 $dir, or name a folder that does not exist" >&2
  exit 4
fi
here=$(dirname "$(readlink -f "$0")")
keytool=$here/java/bin/keytool # of an installation
[ -x "$keytool" ] || keytool=$("$here/setup.sh" jdk)/bin/keytool
umask 022
random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }
[ -s "$dir/token" ] || random >"$dir/token"
[ -s "$dir/password" ] || random >"$dir/password"
if [ ! -s "$dir/http.p12" ]; then
  "$keytool" -genkeypair -alias http -keyalg EC -groupname secp256r1 -validity 365 -dname CN=retstack \
    -ext "SAN=$names" -storetype PKCS12 -keystore "$dir/http.p12" -storepass:file "$dir/password"
fi
"$keytool" -exportcert -alias http -rfc -keystore "$dir/http.p12" -storepass:file "$dir/password" -file "$dir/ca.pem"
chmod 644 "$dir/token" "$dir/password" "$dir/http.p12" "$dir/ca.pem"
