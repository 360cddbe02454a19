#!/bin/sh
# Builds the scripts and styles into ../src/http/page/, where the HTML stands and from where the server takes it all. Needs
# Node 20 and npm; run it after a change here.
set -eu
cd "$(dirname "$0")"
[ -d node_modules ] || npm ci --no-audit --no-fund
out=../src/http/page
npx esbuild src/main.js src/status.js --bundle --minify --format=iife --target=es2020 --legal-comments=linked --outdir="$out" --charset=utf8
cat node_modules/quill/dist/quill.snow.css src/style.css | npx esbuild --loader=css --minify > "$out/page.css"
