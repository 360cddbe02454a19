#!/bin/sh
# What can be checked of the Dockerfile without docker: check.sh [FOLDER]. In a fresh clone (of the last commit, in FOLDER or a temporary
# folder; 2 GB) each path it copies is there and not ignored, its build command works, and the binary runs as the image
# would start it: with the variables of its ENV line, as the last stage has it. The distribution's packages are not checked.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
work=${1:-$(mktemp -d)}
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; [ $# -gt 0 ] || rm -rf "$work"' EXIT
[ -d "$work/clone" ] || git clone -q "$root" "$work/clone"
cd "$work/clone"

# Without what .dockerignore takes away: the build must not need it.
grep -v '^#' .dockerignore | while read -r ignored; do
  case $ignored in
    .git | '**/'*) ;;
    *) rm -rf "./$ignored" ;;
  esac
done
sed -n 's/^COPY \([^-].*\) [^ ]*$/\1/p' Dockerfile | tr ' ' '\n' | while read -r path; do
  [ -e "$path" ] || { echo "COPY of $path, which is not there"; exit 1; }
done
mv .git ../git.away
build=$(sed -n 's/^RUN \(cargo .*\)$/\1/p' Dockerfile)
[ -n "$build" ] || { echo "there is no RUN cargo … in the Dockerfile"; exit 1; }
echo "== $build"
unset CARGO_TARGET_DIR
sh -c "$build"
mv ../git.away .git

binary=$(sed -n 's/^COPY --from=build \/src\/\([^ ]*\) .*$/\1/p' Dockerfile)
[ -x "$binary" ] || { echo "COPY of $binary, which was not built"; exit 1; }
# What the slim image has of libraries.
if ldd "$binary" | grep -vE 'linux-vdso|libc\.so|libm\.so|libgcc_s|ld-linux'; then
  echo "the slim image lacks these libraries"
  exit 1
fi
settings=$(sed -n 's/^ENV //p' Dockerfile | sed "s#YATTA_DATA_DIR=/data#YATTA_DATA_DIR=$work/data#; s#0.0.0.0:1234#127.0.0.1:0#")
entry=$(sed -n 's/^ENTRYPOINT \["yatta", "\(.*\)"\]$/\1/p' Dockerfile)
mkdir -p "$work/data"
# shellcheck disable=SC2086
env $settings NO_COLOR=1 "./$binary" $entry 2>"$work/log" &
server=$!
address=
for _ in $(seq 100); do
  address=$(sed -n 's/.*address=\([0-9.:]*\).*/\1/p' "$work/log" | head -n 1)
  [ -z "$address" ] || break
  sleep 0.1
done
[ -n "$address" ] || { echo "the server did not start:"; cat "$work/log"; exit 1; }
python3 - "$address" <<'PYTHON'
import sys, urllib.request
for path in ("/healthz", "/readyz", "/"):
    with urllib.request.urlopen(f"http://{sys.argv[1]}{path}", timeout=10) as answer:
        assert answer.status == 200, path
PYTHON
kill -TERM "$server"
wait "$server" || { echo "SIGTERM ended it with $?"; exit 1; }
server=
[ -s "$work/data/yatta.db" ] || { echo "no documents in the volume"; exit 1; }
echo "the Dockerfile: paths, build and start are fine (without docker)"
