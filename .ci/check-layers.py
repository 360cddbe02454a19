#!/usr/bin/env python3
"""Holds the layers of docs/ARCHITECTURE.md: a module of src/ imports from lower layers only.

Usage: check-layers.py [SRC]        check the tree (default: src/ beside this script's folder)
       check-layers.py --self-test  check that the checker finds what it should

Every path that begins at the crate root counts, in `use` and in code, written `crate::`, `$crate::` or with
enough `super::`. Two modules of one layer may import in one direction, not in both. Tests are left out:
what stands under #[cfg(test)] may look anywhere. The root file of a module may `pub use` from above what
yrs has under its path; nobody inside may import it by that path. A module without a layer is an error, so that nobody adds
one without thinking of its place.
"""

import re
import sys
import tempfile
from pathlib import Path

# As in docs/ARCHITECTURE.md; a table there that says something else is an error too.
LAYERS = {
    "error": 0, "clock": 0, "atomic": 0,
    "ids": 1,
    "block": 2, "branch": 2,
    "store": 3,
    "change": 4,
    "engine": 5,
    "transaction": 6, "doc": 6, "observer": 6,
    "types": 7, "snapshot": 7, "sticky_index": 7, "user_data": 8,
    "update": 8, "json_path": 8,
    "undo": 9,
    "sync": 10,
}

# Modules that name each other by design. A transaction hands out its document and a document its
# transactions, in the API of yrs; neither is of use alone.
TOGETHER = {"transaction", "doc", "observer"}

# Inline modules of lib.rs that only re-export, under the names of yrs. They lie above everything.
FACADES = {"any", "encoding", "iter", "updates"}


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


def expand(tree, base=()):
    """Yields (path, offset) for the tree behind `crate::`, paths cut after two names: `a::{b, c::d}` gives
    (a, b) and (a, c)."""
    lead = re.match(r"\s*", tree).end()
    if tree[lead:lead + 1] != "{":
        name = re.match(r"(?:r#)?(\w+|\*)(\s*::\s*)?", tree[lead:])
        if not name:
            return
        path = (*base, name.group(1))
        below = list(expand(tree[lead + name.end():], path)) if name.group(2) and len(path) < 2 else []
        # The place of a path is that of its first name, unless that name stands before a brace.
        for deeper, offset in below:
            yield deeper, lead + name.end() + offset
        if not below:
            yield path, lead
        return
    depth, fresh = 0, True
    for at in range(lead, closing(tree, lead)):
        if tree[at] == "{":
            depth += 1
        elif tree[at] == "}":
            depth -= 1
        elif tree[at] == "," and depth == 1:
            fresh = True
        elif depth == 1 and fresh and not tree[at].isspace():
            for path, offset in expand(tree[at:], base):
                yield path, at + offset
            fresh = False


def inline_depths(text):
    """Stretches that lie in inline modules, which `super::` leaves first."""
    return [
        (match.start(), closing(text, match.end() - 1)) for match in re.finditer(r"\bmod\s+\w+\s*\{", text)
    ]


def imports(text, module, depth):
    """Yields (offset, path) for each path from the crate root, or through `super` from the root of `module`."""
    for match in re.finditer(r"(?<![\w:])\$?crate\s*::", text):
        for path, offset in expand(text[match.end():]):
            yield match.end() + offset, path
    inline = inline_depths(text)
    for match in re.finditer(r"(?<![\w:])(?:self\s*::\s*)?((?:super\s*::\s*)+)", text):
        ups = match.group(1).count("super")
        here = depth + sum(1 for start, end in inline if start < match.start() < end)
        if ups >= here - 1:
            for path, offset in expand(text[match.end():], () if ups >= here else (module,)):
                yield match.end() + offset, path


PUBLIC_REEXPORT = re.compile(r"(?m)^pub\s+use\s+(?:crate|super)\s*::([^;]*);")


def facade_names(module, text):
    """What the root file of a module re-exports to the public from above: the paths of yrs, not ours."""
    return {
        path[1]
        for match in PUBLIC_REEXPORT.finditer(text)
        for path, _ in expand(match.group(1))
        if len(path) == 2 and LAYERS.get(path[0], 0) > LAYERS[module]
    }


def read_tree(src):
    """Returns the code of each file that is no test, with the path of its module."""
    files, tests = {}, set()
    for path in sorted(src.rglob("*.rs")):
        text, outline = without_tests(without_comments_and_strings(path.read_text(encoding="utf-8")))
        files[path] = text
        home = path.parent if path.name in ("mod.rs", "lib.rs") else path.with_suffix("")
        tests.update(home / name for name in outline)
    for path, text in files.items():
        parts = path.relative_to(src).with_suffix("").parts
        is_test = any(test == path.with_suffix("") or test in path.parents for test in tests)
        if parts != ("lib",) and not is_test:
            yield path, text, parts[:-1] if parts[-1] == "mod" else parts


def check(src):
    files = list(read_tree(src))
    facades = {}
    for _, text, module in files:
        if len(module) == 1 and module[0] in LAYERS:
            facades[module[0]] = facade_names(module[0], text)
    wrong, sideways = [], {}
    for file, text, (module, *inner) in files:
        if module not in LAYERS:
            wrong.append(f"{file}:1: module `{module}` has no layer; give it one in .ci/check-layers.py")
            continue
        # The root file of a module may re-export from above what yrs has under its path.
        if not inner:
            for match in PUBLIC_REEXPORT.finditer(text):
                if any(path[1:] == () or path[1] == "*" for path, _ in expand(match.group(1))):
                    continue
                if all(LAYERS.get(path[0], 0) > LAYERS[module] for path, _ in expand(match.group(1))):
                    text = blank(text, match.start(), match.end())
        for offset, path in imports(text, module, 1 + len(inner)):
            place = f"{file}:{text.count(chr(10), 0, offset) + 1}"
            name, layer = path[0], LAYERS[module]
            if len(path) > 1 and path[1] in facades.get(name, ()):
                wrong.append(f"{place}: `{name}::{path[1]}` is a re-export from above; import from its module")
            elif name == module or {module, name} <= TOGETHER:
                continue
            elif name in FACADES:
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
    # Two names from one line of one module are one complaint.
    return list(dict.fromkeys(wrong))


def check_documented(text, place):
    """Compares the table of the architecture with ours: rows `| 2 | `block`, `branch` | … |`."""
    wrong, rows = [], re.findall(r"(?m)^\| (\d+) \| ([^|]*) \|", text)
    for number, modules in rows:
        for module in re.findall(r"`(\w+)`", modules):
            if LAYERS.get(module) != int(number):
                wrong.append(f"{place}: puts `{module}` in layer {number}, .ci/check-layers.py in {LAYERS.get(module)}")
    return wrong if rows else [f"{place}: holds no table of layers"]


GOOD = {
    "lib.rs": "mod doc; mod store; pub mod any { pub use crate::types::X; }",
    "store/mod.rs": "use crate::block::Item; // crate::doc in a comment\nconst S: &str = \"crate::doc\";\n"
                    "fn f<'a>(c: char) -> bool { c == '\"' || c == '{' }\n",
    "store/find.rs": "use super::Store;\nuse crate::{block::{Item, Gc}, ids};\nuse crate::store::check;\n",
    "doc/mod.rs": "#[cfg(test)]\nmod tests;\n#[cfg(test)]\nmod inline { use crate::sync::X; }\n"
                  "use super::store::Store;\n",
    "doc/tests.rs": "use crate::sync::Protocol;\n",
    "transaction/mod.rs": "use crate::doc::Doc;\n",
    "block/mod.rs": "pub use crate::types::{Prelim, text::Delta};\npub use crate::ids::Range;\n",
    "branch/mod.rs": "use crate::block::{Item, Range};\n",
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
    ({"block/mod.rs": "pub(crate) use crate::types::Prelim;"}, "block/mod.rs:1: block (layer 2) imports types"),
    ({"block/mod.rs": "pub use crate::types::*;"}, "block/mod.rs:1: block (layer 2) imports types"),
    ({"block/item.rs": "pub use crate::types::Prelim;"}, "block/item.rs:1: block (layer 2) imports types"),
    ({"store/bad.rs": "use crate::block::{Item,\n Prelim};"}, "store/bad.rs:2: `block::Prelim` is a re-export"),
    ({"block/item.rs": "use super::{Gc, Prelim};"}, "block/item.rs:1: `block::Prelim`"),
    ({"doc/mod.rs": "#[cfg(not(test))]\nuse crate::sync::X;"}, "doc/mod.rs:2: doc (layer 6) imports sync"),
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
    tables = ["| 2 | `block`, `store` | x |", "no table"]
    if check_documented("| 2 | `block`, `branch` | x |", "doc") or not all(check_documented(t, "") for t in tables):
        failed += 1
        print("self-test: the table of the architecture is not compared")
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
    if len(sys.argv) == 1:
        table = src.parent / "docs" / "ARCHITECTURE.md"
        wrong += check_documented(table.read_text(encoding="utf-8"), table)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"layers: {len(wrong)} imports look up or sideways" if wrong else "layers hold")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
