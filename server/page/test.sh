#!/bin/sh
# The page in two headless browsers: test.sh [PATH-OF-yatta]. Starts a server of its own, in memory. Needs Node 20, npm and a chromium
# in the PATH (Debian: apt-get install chromium) or in CHROMIUM; without one it says so and does nothing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
yatta=$(realpath -m "${1:-$here/../../target/release/yatta}")
cd "$here"
chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
if [ -z "$chromium" ]; then
  echo "SKIPPED: the page was NOT tested: there is no chromium here (set CHROMIUM, or apt-get install chromium)"
  exit 0
fi
[ -x "$yatta" ] || { echo "there is no $yatta: cargo build --release --bin yatta"; exit 1; }
# The browser comes from the system: nothing is downloaded but the driver, by its lock file.
stamp=test/node_modules/.yatta-lock
if ! cmp -s test/package-lock.json "$stamp"; then
  (cd test && npm ci --ignore-scripts --no-audit --no-fund)
  cp test/package-lock.json "$stamp"
fi
log=$(mktemp)
"$yatta" serve --listen 127.0.0.1:0 --memory --log info 2>"$log" &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -f "$log"' EXIT
address=
for _ in $(seq 100); do
  address=$(sed -n 's/.*address=\([0-9.:]*\).*/\1/p' "$log" | head -n 1)
  [ -z "$address" ] || break
  sleep 0.1
done
[ -n "$address" ] || { echo "the server did not start:"; cat "$log"; exit 1; }
# It is bounded: a browser that hangs is no reason to wait for ever.
timeout 120 node test/page.mjs "http://$address" "$chromium"
