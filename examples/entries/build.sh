#!/bin/sh
# Makes entries.jar in the folder that is given, by the tools of a JDK and `cctrewrite api` alone.
set -e
out=${1:?where to}
here=$(cd "$(dirname "$0")" && pwd)
bin=${JAVA_HOME:+$JAVA_HOME/bin/}
mkdir -p "$out/classes"
"${CCTREWRITE:-cctrewrite}" api --modules -o "$out/cctrewrite-udi.jar"
"${bin}javac" -source 8 -target 8 -Xlint:-options -nowarn -cp "$out/cctrewrite-udi.jar" -d "$out/classes" $(find "$here/src" -name '*.java')
"${bin}jar" cfm "$out/entries.jar" "$here/manifest.txt" -C "$out/classes" .
