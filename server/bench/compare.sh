#!/bin/sh
# Measures this server and two in Node under the same load, one after the other in each round: server on core 0, load on
# core 1. Usage: compare.sh PATH-OF-yatta [ROUNDS]. Prints one JSON object a line. Durability: ours fsyncs before it acknowledges
# (SQLite), yatta-memory and the others keep everything in memory only. YRS_AXUM=PATH adds the server of yrs-axum/, FLOOR=PATH the example
# `floor`, which does nothing but the system calls (no storm: it has no documents).
set -eu
cd "$(dirname "$0")"
yatta=$1
rounds=${2:-1}
[ -d node_modules ] || npm ci --ignore-scripts --no-audit --no-fund >&2
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT

start() { # NAME PORT DIALECT
  case $1 in
    yatta) taskset -c 0 "$yatta" serve --listen 127.0.0.1:$2 --data-dir "$work/$1-$2" --log error --max-rate 0 & ;;
    yatta-memory) taskset -c 0 "$yatta" serve --listen 127.0.0.1:$2 --memory --log error --max-rate 0 & ;;
    y-websocket) HOST=127.0.0.1 PORT=$2 taskset -c 0 node node_modules/y-websocket/bin/server.cjs >/dev/null & ;;
    floor) taskset -c 0 "$FLOOR" 127.0.0.1:$2 & ;;
    yrs-axum) taskset -c 0 "$YRS_AXUM" 127.0.0.1:$2 & ;;
    hocuspocus) PORT=$2 taskset -c 0 node hocuspocus.mjs >/dev/null & ;;
  esac
  server=$!
  # Until it answers; that warms it, too.
  for _ in $(seq 60); do
    "$yatta" load --url "ws://127.0.0.1:$2" --dialect "$3" --connections 2 --writers 1 --interval 20 --duration 1 >/dev/null 2>&1 && return
    sleep 0.5
  done
}

measure() { # SERVER SCENARIO LOAD-ARGUMENTS...
  name=$1 scenario=$2
  shift 2
  port=$((20000 + $(date +%N | sed 's/^0*//;s/....$//') % 10000))
  dialect=ywebsocket
  [ "$name" != hocuspocus ] || dialect=hocuspocus
  start "$name" $port $dialect
  result=$(taskset -c 1 "$yatta" load --url ws://127.0.0.1:$port --dialect $dialect --pid $server --json "$@" 2>/dev/null || true)
  # How busy the machine was, for the reader: ratios within a run are worth something, times alone may not be.
  printf '{"server":"%s","scenario":"%s","loadavg":%s,"result":%s}\n' "$name" "$scenario" "$(cut -d' ' -f1 /proc/loadavg)" "${result:-null}"
  kill $server && wait $server 2>/dev/null || true
  server=
}

all="yatta yatta-memory y-websocket hocuspocus"
[ -z "${YRS_AXUM:-}" ] || all="$all yrs-axum"
busy=$all
[ -z "${FLOOR:-}" ] || busy="$all floor"
for round in $(seq "$rounds"); do
  for name in $busy; do measure $name "1x2, 1 writer at 20 ms" --connections 2 --writers 1 --interval 20 --duration 6; done
  for name in $busy; do measure $name "1x10, 1 writer at 20 ms" --connections 10 --writers 1 --interval 20 --duration 6; done
  for name in $busy; do measure $name "1x50, 5 writers at 100 ms" --connections 50 --writers 5 --interval 100 --duration 8; done
  for name in $busy; do measure $name "50x30, 100 writers at 400 ms" --rooms 50 --connections 30 --writers 2 --interval 400 --duration 8; done
  for name in $busy; do measure $name "1x200, 20 writers at 150 ms" --connections 200 --writers 20 --interval 150 --duration 8; done
  for name in $all; do measure $name "1000 idle" --rooms 100 --connections 10 --writers 0 --duration 1; done
  for name in $all; do measure $name "storm: 150 join 4 MB" --connections 150 --writers 0 --duration 1 --connect-rate 0 --fill 4000000; done
done
