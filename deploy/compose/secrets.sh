#!/bin/sh
# Makes a token and a self-signed certificate for a trial: secrets.sh DIR [NAME...]
#   DIR/token  DIR/password  DIR/http.p12  DIR/ca.pem
# The certificate is for localhost, 127.0.0.1, pipeline-1, pipeline-2 and the NAMEs given. Existing files stay.
# Needs keytool (of a JDK). For real use, take a certificate of your own CA instead.
set -eu
dir=${1:?usage: secrets.sh DIR [NAME...]}
shift
names=dns:localhost,ip:127.0.0.1,dns:pipeline-1,dns:pipeline-2
for name; do names=$names,dns:$name; done
umask 077
mkdir -p "$dir"
random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }
[ -s "$dir/token" ] || random >"$dir/token"
[ -s "$dir/password" ] || random >"$dir/password"
if [ ! -s "$dir/http.p12" ]; then
  keytool -genkeypair -alias http -keyalg EC -groupname secp256r1 -validity 365 -dname CN=retstack \
    -ext "SAN=$names" -storetype PKCS12 -keystore "$dir/http.p12" -storepass:file "$dir/password"
fi
keytool -exportcert -alias http -rfc -keystore "$dir/http.p12" -storepass:file "$dir/password" -file "$dir/ca.pem"
