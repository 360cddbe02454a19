#!/bin/sh
# Builds yffi, the C interface of yrs, unchanged, on yatta in place of yrs, and runs a C program on it.
#
#     tools/clients/yffi.sh [FOLDER]
#
# FOLDER (default: target/clients/yffi) keeps the source and the build for the next run. The status is that of the program
# (tools/clients/yffi_demo.c), which checks every value that it reads.
#
# yffi 0.28.0 names each error of yrs 0.28.0; the variant that 0.28.1 added is left out by the feature yrs-0-28-0. (With
# yrs 0.28.1 itself it does not compile.)
#
# Needs cargo and a C compiler.
set -eu

VERSION=0.28.0
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
FOLDER=${1:-$ROOT/target/clients/yffi}
mkdir -p "$FOLDER"
FOLDER=$(cd "$FOLDER" && pwd)
SOURCE=$FOLDER/yffi-$VERSION

if [ ! -d "$SOURCE" ]; then
    # A package that depends on yffi makes cargo download its source.
    mkdir -p "$FOLDER/fetch/src"
    : > "$FOLDER/fetch/src/lib.rs"
    printf '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2024"\n\n[dependencies]\nyffi = "=%s"\n\n[workspace]\n' \
        "$VERSION" > "$FOLDER/fetch/Cargo.toml"
    MANIFEST=$(cargo metadata --quiet --format-version 1 --manifest-path "$FOLDER/fetch/Cargo.toml" |
        sed 's/"manifest_path":/\n&/g' | sed -n "s|^\"manifest_path\":\"\([^\"]*/yffi-$VERSION/Cargo.toml\)\".*|\1|p" | head -1)
    cp -R "$(dirname "$MANIFEST")" "$SOURCE"
    printf '\n[patch.crates-io]\nyrs = { path = "%s/compat/yrs" }\n\n[workspace]\n' "$ROOT" >> "$SOURCE/Cargo.toml"
fi

cd "$SOURCE"
# The lock file names the yrs of the registry. The patch must be what is built, or the program would tell of yrs.
cargo update --quiet --package yrs
cargo tree --quiet --package yrs --depth 0 | grep -qF "($ROOT/compat/yrs)" || {
    echo "the patch does not apply: yffi would be built on the real yrs" >&2
    exit 2
}
cargo build --quiet --features yrs/yrs-0-28-0 --target-dir "$FOLDER/target"

${CC:-cc} -Wall -Wextra -Werror -O1 -o "$FOLDER/demo" "$ROOT/tools/clients/yffi_demo.c" -L "$FOLDER/target/debug" \
    -lyrs -lpthread -ldl -lm
LD_LIBRARY_PATH=$FOLDER/target/debug exec "$FOLDER/demo"
