#!/bin/sh
# Installs the pinned clients beside this script, once; tests and .ci/run call it. Needs Node 20 and npm.
set -eu
cd "$(dirname "$0")"
stamp=node_modules/.yatta-lock
if [ -f "$stamp" ] && cmp -s package-lock.json "$stamp"; then
  exit 0
fi
npm ci --ignore-scripts --no-audit --no-fund
cp package-lock.json "$stamp"
