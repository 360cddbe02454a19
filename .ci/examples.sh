#!/bin/sh
# Runs every example; each asserts what it shows, and fits a screen or two. Built as `cargo test --workspace` builds them,
# so that after it nothing is left to build.
set -eu
cd "$(dirname "$0")/.."
cargo build -q --profile test --workspace --examples
for file in examples/*.rs; do
  name=$(basename "$file" .rs)
  lines=$(wc -l <"$file")
  [ "$lines" -le 80 ] || { echo "$file has $lines lines, more than 80"; exit 1; }
  printf '%s: ' "$name"
  "${CARGO_TARGET_DIR:-target}/debug/examples/$name"
done
