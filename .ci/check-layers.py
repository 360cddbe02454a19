#!/usr/bin/env python3
"""Holds the layers of docs/ARCHITECTURE.md: a module of src/ imports from lower layers only.

Usage: check-layers.py [SRC]        check the tree (default: src/ beside this script's folder)
       check-layers.py --self-test  check that the checker finds what it should

Every path that begins at the crate root counts, in `use` and in code, written `crate::`, `$crate::` or with
enough `super::`. Two modules of one layer may import in one direction, not in both. Tests are left out:
what stands under #[cfg(test)] may look anywhere. A module without a layer is an error, so that nobody adds
one without thinking of its place.
"""

import re
import sys
import tempfile
from pathlib import Path

LAYERS = {
    "error": 0,
    "ids": 1,
    "block": 2, "branch": 2,
    "store": 3,
    "change": 4,
    "engine": 5,
    "transaction": 6,
    "doc": 7,
    "types": 8, "snapshot": 8, "sticky_index": 8, "json_path": 8,
    "update": 9,
    "undo": 10,
    "sync": 11,
}

# Inline modules of lib.rs that only re-export, under the names of yrs. They lie above everything.
FACADES = {"any", "encoding", "updates"}


def blank(text, start, end):
    """Replaces a stretch by spaces, keeping the lines."""
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]


def without_comments_and_strings(text):
    pattern = re.compile(
        r"//[^\n]*"
        r'|b?r(?P<fence>#*)".*?"(?P=fence)'
        r'|b?"(?:\\.|[^"\\])*"'
        r"|b?'(?:\\(?:u\{[^}]*\}|x..|.)|[^'\\])'",
        re.S,
    )
    out, at = [], 0
    while at < len(text):
        if text.startswith("/*", at):
            depth, end = 1, at + 2
            while depth and end < len(text):
                if text.startswith("/*", end):
                    depth, end = depth + 1, end + 2
                elif text.startswith("*/", end):
                    depth, end = depth - 1, end + 2
                else:
                    end += 1
        else:
            # A raw string's `r` must not be the end of a name.
            inside_name = at > 0 and (text[at - 1].isalnum() or text[at - 1] == "_")
            match = None if inside_name and text[at] in "br" else pattern.match(text, at)
            if not match:
                out.append(text[at])
                at += 1
                continue
            end = match.end()
        out.append(re.sub(r"[^\n]", " ", text[at:end]))
        at = end
    return "".join(out)


def closing(text, start):
    """The index behind the brace that closes the one at `start`."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at + 1
    return len(text)


TEST_ATTRIBUTE = re.compile(r"#\[cfg\((?:test|all\(test\b[^\]]*)\)\]")
ATTRIBUTE = re.compile(r"\s*#\[[^\]]*\]")
OUTLINE_MODULE = re.compile(r"\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;")


def without_tests(text):
    """Blanks what stands under #[cfg(test)]; returns the names of test modules in files of their own too."""
    outline = set()
    while match := TEST_ATTRIBUTE.search(text):
        at = match.end()
        while more := ATTRIBUTE.match(text, at):
            at = more.end()
        if named := OUTLINE_MODULE.match(text, at):
            outline.add(named.group(1))
        ends = [i for i in (text.find(";", at), text.find("{", at)) if i >= 0]
        end = min(ends, default=len(text))
        end = closing(text, end) if text[end:end + 1] == "{" else end + 1
        text = blank(text, match.start(), end)
    return text, outline


def heads(tree):
    """The first names in the tree behind `crate::`, with their offsets: `a::{b, c}` gives a, `{a, b::c}` both."""
    lead = re.match(r"\s*", tree).end()
    if tree[lead:lead + 1] != "{":
        name = re.match(r"(?:r#)?(\w+|\*)", tree[lead:])
        return [(name.group(1), lead)] if name else []
    found, depth, fresh = [], 0, True
    for at in range(lead, closing(tree, lead)):
        if tree[at] == "{":
            depth += 1
        elif tree[at] == "}":
            depth -= 1
        elif tree[at] == "," and depth == 1:
            fresh = True
        elif depth == 1 and fresh and not tree[at].isspace():
            name = re.match(r"\w+|\*", tree[at:])
            if name:
                found.append((name.group(0), at))
            fresh = False
    return found


def inline_depths(text):
    """Stretches that lie in inline modules, which `super::` leaves first."""
    return [
        (match.start(), closing(text, match.end() - 1)) for match in re.finditer(r"\bmod\s+\w+\s*\{", text)
    ]


def imports(text, depth):
    """Yields (offset, name) for each path from the crate root."""
    for match in re.finditer(r"(?<![\w:])\$?crate\s*::", text):
        for name, offset in heads(text[match.end():]):
            yield match.end() + offset, name
    inline = inline_depths(text)
    for match in re.finditer(r"(?<![\w:])(?:self\s*::\s*)?((?:super\s*::\s*)+)", text):
        ups = match.group(1).count("super")
        here = depth + sum(1 for start, end in inline if start < match.start() < end)
        if ups >= here:
            for name, offset in heads(text[match.end():]):
                yield match.end() + offset, name


def check(src):
    files, tests = {}, set()
    for path in sorted(src.rglob("*.rs")):
        text, outline = without_tests(without_comments_and_strings(path.read_text(encoding="utf-8")))
        files[path] = text
        home = path.parent if path.name in ("mod.rs", "lib.rs") else path.with_suffix("")
        tests.update(home / name for name in outline)
    wrong, sideways = [], {}
    for path, text in files.items():
        parts = path.relative_to(src).with_suffix("").parts
        if parts == ("lib",):
            continue
        if any(test == path.with_suffix("") or test in path.parents for test in tests):
            continue
        module = parts[0]
        depth = len(parts) - (parts[-1] == "mod")
        if module not in LAYERS:
            wrong.append(f"{path}:1: module `{module}` has no layer; give it one in .ci/check-layers.py")
            continue
        for offset, name in imports(text, depth):
            place = f"{path}:{text.count(chr(10), 0, offset) + 1}"
            layer = LAYERS[module]
            if name == module:
                continue
            if name in FACADES:
                wrong.append(f"{place}: `{name}` is a facade of lib.rs; import from yatta_encoding or the module")
            elif name not in LAYERS:
                wrong.append(f"{place}: `crate::{name}` is a re-export of lib.rs; import from its module")
            elif LAYERS[name] > layer:
                wrong.append(f"{place}: {module} (layer {layer}) imports {name} (layer {LAYERS[name]})")
            elif LAYERS[name] == layer:
                sideways.setdefault((module, name), place)
    for (module, name), place in sideways.items():
        if module < name and (name, module) in sideways:
            wrong.append(f"{place}: {module} imports {name}, and {sideways[name, module]}: {name} imports {module}")
    return wrong


GOOD = {
    "lib.rs": "mod doc; mod store; pub mod any { pub use crate::types::X; }",
    "store/mod.rs": "use crate::block::Item; // crate::doc in a comment\nconst S: &str = \"crate::doc\";\n"
                    "fn f<'a>(c: char) -> bool { c == '\"' || c == '{' }\n",
    "store/find.rs": "use super::Store;\nuse crate::{block::{Item, Gc}, ids};\nuse crate::store::check;\n",
    "doc/mod.rs": "#[cfg(test)]\nmod tests;\n#[cfg(test)]\nmod inline { use crate::sync::X; }\n"
                  "use super::store::Store;\n",
    "doc/tests.rs": "use crate::sync::Protocol;\n",
    "branch/mod.rs": "use crate::block::Item;\n",
}

# What is added to the good tree, and the beginning of the one complaint that it must bring.
BAD = [
    ({"store/bad.rs": "\nuse crate::doc::Doc;\n"}, "store/bad.rs:2: store (layer 3) imports doc"),
    ({"store/bad.rs": "use crate::{\n    block::Item,\n    doc::{Doc, Options},\n};"}, "store/bad.rs:3: store"),
    ({"store/bad.rs": "fn f() {\n    crate::types::text::f();\n}"}, "store/bad.rs:2: store (layer 3) imports types"),
    ({"store/bad.rs": "use super::super::sync::X;"}, "store/bad.rs:1: store (layer 3) imports sync"),
    ({"store/mod.rs": "use super::engine::X;"}, "store/mod.rs:1: store (layer 3) imports engine"),
    ({"store/bad.rs": "mod inner {\n use super::super::super::undo::X;\n}"}, "store/bad.rs:2: store"),
    ({"store/bad.rs": "macro_rules! m { () => { $crate::update::f() } }"}, "store/bad.rs:1: store"),
    ({"store/bad.rs": "/* /* nested */ crate::x */ use crate::any::Any;"}, "store/bad.rs:1: `any` is a facade"),
    ({"store/bad.rs": "const R: &str = r#\"\"crate::x\"#; use crate::Doc;"}, "store/bad.rs:1: `crate::Doc`"),
    ({"store/bad.rs": "use crate::*;"}, "store/bad.rs:1: `crate::*`"),
    ({"new.rs": "fn f() {}"}, "new.rs:1: module `new` has no layer"),
    ({"block/mod.rs": "use crate::branch::Branch;"}, "block/mod.rs:1: block imports branch, and"),
    ({"doc/mod.rs": "#[cfg(not(test))]\nuse crate::sync::X;"}, "doc/mod.rs:2: doc (layer 7) imports sync"),
]


def self_test():
    def complaints(files):
        with tempfile.TemporaryDirectory() as folder:
            src = Path(folder)
            for name, text in files.items():
                (src / name).parent.mkdir(parents=True, exist_ok=True)
                (src / name).write_text(text, encoding="utf-8")
            return [line.replace(f"{src}/", "") for line in check(src)]

    failed = 0
    if found := complaints(GOOD):
        failed += 1
        print("self-test: the good tree brings", *found, sep="\n  ")
    for files, expected in BAD:
        # A doc/mod.rs of the bad tree no longer names its tests.
        base = {k: v for k, v in GOOD.items() if not ("doc/mod.rs" in files and k == "doc/tests.rs")}
        found = complaints(base | files)
        if len(found) != 1 or not found[0].startswith(expected):
            failed += 1
            print(f"self-test: {files} should bring `{expected}…`, brings {found}")
    return failed


def main():
    if sys.argv[1:] == ["--self-test"]:
        failed = self_test()
        print("self-test failed" if failed else f"self-test: {len(BAD)} violations found, no false alarm")
        return 1 if failed else 0
    src = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent / "src"
    if not (src / "lib.rs").is_file():
        print(f"{src} holds no lib.rs")
        return 2
    wrong = check(src)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"layers: {len(wrong)} imports look up or sideways" if wrong else "layers hold")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
