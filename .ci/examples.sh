#!/bin/sh
# Runs every example; each asserts what it shows, and fits a screen or two.
set -eu
cd "$(dirname "$0")/.."
cargo build -q --examples -p yatta
for file in examples/*.rs; do
  name=$(basename "$file" .rs)
  lines=$(wc -l <"$file")
  [ "$lines" -le 80 ] || { echo "$file has $lines lines, more than 80"; exit 1; }
  printf '%s: ' "$name"
  cargo run -q -p yatta --example "$name"
done
