#!/bin/sh
# Builds pycrdt, unchanged, on yatta in place of yrs, and runs its own tests.
#
#     tools/clients/pycrdt.sh [FOLDER]
#
# FOLDER (default: target/clients/pycrdt) keeps the source, the build and a virtual environment for the next run. Prints
# the summary of pytest in its last line; the status is that of pytest. tests/test_types.py is left out: it checks type
# annotations with mypy and runs nothing of the engine.
#
# Needs python 3.11 or later with pip, and cargo.
set -eu

VERSION=0.14.13
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
FOLDER=${1:-$ROOT/target/clients/pycrdt}
mkdir -p "$FOLDER"
FOLDER=$(cd "$FOLDER" && pwd)
SOURCE=$FOLDER/pycrdt-$VERSION

if [ ! -x "$FOLDER/venv/bin/python" ]; then
    python3 -m venv "$FOLDER/venv"
    "$FOLDER/venv/bin/pip" install --quiet 'maturin>=1.8.2,<2' 'pytest>=8.3.5,<10' 'anyio>=4.14.0,<5' \
        'trio>=0.25.1,<0.35' 'pydantic>=2.5.2,<3'
fi
PYTHON=$FOLDER/venv/bin/python

if [ ! -d "$SOURCE" ]; then
    "$PYTHON" -m pip download --quiet --no-deps --no-build-isolation --no-binary pycrdt \
        --dest "$FOLDER" "pycrdt==$VERSION"
    tar -xzf "$FOLDER/pycrdt-$VERSION.tar.gz" -C "$FOLDER"
    printf '\n[patch.crates-io]\nyrs = { path = "%s/compat/yrs" }\n\n[workspace]\n' "$ROOT" >> "$SOURCE/Cargo.toml"
fi

cd "$SOURCE"
# The lock file names the yrs of the registry. The patch must be what is built, or the tests would tell of yrs.
cargo update --quiet --package yrs
cargo tree --quiet --package yrs --depth 0 | grep -qF "($ROOT/compat/yrs)" || {
    echo "the patch does not apply: pycrdt would be built on the real yrs" >&2
    exit 2
}
PYO3_PYTHON=$PYTHON cargo build --release --features pyo3/extension-module --target-dir "$FOLDER/target"

rm -rf "$FOLDER/site"
mkdir -p "$FOLDER/site"
cp -R python/pycrdt "$FOLDER/site/pycrdt"
if [ -e "$FOLDER/target/release/libpycrdt.dylib" ]; then
    cp "$FOLDER/target/release/libpycrdt.dylib" "$FOLDER/site/pycrdt/_pycrdt.so"
else
    cp "$FOLDER/target/release/libpycrdt.so" "$FOLDER/site/pycrdt/_pycrdt.so"
fi
PYTHONPATH=$FOLDER/site exec "$PYTHON" -m pytest tests --ignore tests/test_types.py -q -p no:cacheprovider
