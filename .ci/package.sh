#!/bin/sh
# Packs what is to be published, builds it from the packages alone, and looks at what is inside.
set -eu
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}/packages
export CARGO_TARGET_DIR="$target"

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
# Cargo takes a version for one thing for ever: of an earlier run it keeps what it unpacked and what it built.
rm -rf "$target"/package "$target"/debug/.fingerprint/yatta*
rm -rf "${CARGO_HOME:-$HOME/.cargo}"/registry/src/-*/yatta*-"$version"
rm -rf "${CARGO_HOME:-$HOME/.cargo}"/registry/cache/-*/yatta*-"$version".crate

# All at once: they find each other among the packages, as the registry does not have them yet.
cargo package -q --allow-dirty -p yatta-encoding -p yatta -p yatta-client

for name in yatta-encoding yatta yatta-client; do
  package=$target/package/$name-$version.crate
  list=$(tar tzf "$package")
  for file in Cargo.toml README.md LICENSE src/lib.rs; do
    echo "$list" | grep -qx "$name-$version/$file" || { echo "$package lacks $file"; exit 1; }
  done
  # Nothing of this machine or of the rest of the repository.
  if echo "$list" | grep -vE "^$name-$version/(src/.*\.rs|Cargo\.(toml|toml\.orig|lock)|README\.md|CHANGELOG\.md|LICENSE|\.cargo_vcs_info\.json)$"; then
    echo "$package holds more than it should"; exit 1
  fi
  manifest=$(tar xzOf "$package" "$name-$version/Cargo.toml")
  for key in description license readme keywords categories rust-version; do
    echo "$manifest" | grep -q "^$key = " || { echo "$package says no $key"; exit 1; }
  done
  if echo "$manifest" | grep -nE '^path = "(\.\.|/)|^path = "encoding' || tar xzOf "$package" | grep -nF "$(pwd)"; then
    echo "$package names a path of this machine"; exit 1
  fi
  echo "$name-$version: $(echo "$list" | wc -l) files, $(wc -c <"$package") bytes"
done

# Not published (its name is taken); what patches yrs must build all the same.
cargo check -q --manifest-path compat/yrs/Cargo.toml
