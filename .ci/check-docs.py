#!/usr/bin/env python3
"""Checks that the docs of public functions say what their numbers count: a parameter or a result that is an index, a
length, an offset or a clock needs a word that names its unit (bytes, UTF-16 units, elements, …).
And that docs/SERVER.md names a test that exists for each promise of its table.

Usage: check-docs.py              check src/, encoding/src/ and docs/SERVER.md
       check-docs.py --self-test  check that the checker finds what it should
"""

import re
import sys
import tempfile
from pathlib import Path

NUMBERS = {"index", "len", "offset", "start", "end", "from", "to", "length", "utf16_len"}
UNIT = re.compile(
    r"offset kind|UTF-16|bytes?\b|elements?\b|nodes?\b|units?\b|clocks?\b|keys\b|characters?\b|blocks\b"
    r"|entries|ranges\b|clients\b|millisecond|messages\b|steps\b",
)
FUNCTION = re.compile(
    r"(?m)^(?P<indent>[ \t]*)(?P<vis>pub )?(?:const )?(?:async )?(?:unsafe )?fn (?P<name>\w+)(?:<[^{;]*?>)?\((?P<args>[^)]*(?:\([^)]*\)[^)]*)*)\)"
)
TRAIT = re.compile(r"(?m)^pub trait ")


def docs_before(text, at):
    lines = text[:at].rstrip("\n").split("\n")
    found = []
    while lines:
        line = lines.pop().strip()
        if line.startswith("///"):
            found.append(line[3:].strip())
        elif not (line.startswith("#[") or line.endswith(")]")):
            break
    return " ".join(reversed(found))


def public_spans(text):
    """Stretches of public traits, where no function says `pub`."""
    for match in TRAIT.finditer(text):
        end = re.compile(r"(?m)^}").search(text, match.start())
        yield match.start(), end.end() if end else len(text)


def check_file(text):
    tests = text.find("#[cfg(test)]\nmod tests {")
    text = text if tests < 0 else text[:tests]
    spans = list(public_spans(text))
    for match in FUNCTION.finditer(text):
        in_trait = any(start < match.start() < end for start, end in spans) and len(match["indent"]) == 4
        if not (match["vis"] or in_trait):
            continue
        numbers = [
            name for name, kind in re.findall(r"(?:mut )?(\w+)\s*:\s*([^,]+)", match["args"])
            if name in NUMBERS and re.match(r"(?:u32|usize|u64|Option<u32>|&?Range<)", kind.strip())
        ]
        if match["name"] in ("len", "remaining", "position", "offset"):
            numbers.append("result")
        docs = docs_before(text, match.start())
        if numbers and docs and not UNIT.search(docs):
            line = text.count("\n", 0, match.start()) + 1
            yield line, f"`{match['name']}` does not say what its {', '.join(numbers)} counts"


def check(root, sources):
    for source in sources:
        for file in sorted((root / source).rglob("*.rs")):
            if file.name == "tests.rs":
                continue
            for line, what in check_file(file.read_text(encoding="utf-8")):
                yield f"{file.relative_to(root).as_posix()}:{line}: {what}"


def test_file(root, name):
    """The file that a name like `sync` or `serve/crashes` stands for."""
    if name == "client":
        return root / "client/tests/sync.rs"
    return root / ("tools/tests" if name.startswith("serve/") else "server/tests") / f"{name}.rs"


def promises(root, text):
    """What is wrong with the table of promises: a row without a test, or a test that does not exist or is none."""
    begin = text.find("| Others' users report |")
    if begin < 0:
        yield "docs/SERVER.md has no table of promises"
        return
    rows = text[begin:].split("\n\n")[0].strip().split("\n")[2:]
    if not rows:
        yield "the table of promises is empty"
    for row in rows:
        cells = row.strip().strip("|").split("|")
        tests = re.findall(r"`([\w/]+)::(\w+)`", cells[-1])
        if len(cells) != 3 or not tests:
            yield f"docs/SERVER.md: no test in: {row}"
        for file, test in tests:
            path = test_file(root, file)
            code = path.read_text(encoding="utf-8") if path.exists() else ""
            attribute = r"#\[(?:tokio::)?test[^\]]*\]\n(?:\s*#\[[^\n]*\]\n)*\s*(?:async )?fn "
            if not re.search(attribute + re.escape(test) + r"\(", code):
                yield f"docs/SERVER.md: there is no test {file}::{test}"


def self_test_promises():
    table = "| Others' users report | Here | Tests |\n|---|---|---|\n{}\n\nrest"
    cases = [
        ("", 1),
        (table.format("| a | b | `sync::limits` |"), 0),
        (table.format("| a | b | `sync::limits`, `serve/crashes::round` |"), 1),
        (table.format("| a | b | `sync::no_such_test` |"), 1),
        (table.format("| a | b | nothing |\n| a | b | `nowhere::limits` |"), 2),
    ]
    root = Path(__file__).resolve().parent.parent
    failed = 0
    for text, count in cases:
        found = list(promises(root, text))
        if len(found) != count:
            failed += 1
            print(f"self-test: {text!r} should bring {count} complaints, brings {found}")
    return failed


def self_test():
    cases = [
        ("/// Cuts.\npub fn cut(at: u32, len: u32) {}\n", 1),
        ("/// Cuts `len` bytes.\npub fn cut(&self, len: u32) {}\n", 0),
        ("pub trait T {\n    /// Counts.\n    fn len(&self) -> u32;\n}\n", 1),
        ("impl T {\n    /// Counts.\n    fn len(&self) -> u32 { 0 }\n}\n", 0),
        ("/// Inserts.\n#[inline]\npub fn insert<K: Into<A>>(\n    &self,\n    index: u32,\n) {}\n", 1),
    ]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for text, count in cases:
            (Path(folder) / "a.rs").write_text(text, encoding="utf-8")
            found = list(check(Path(folder), ["."]))
            if len(found) != count:
                failed += 1
                print(f"self-test: {text!r} should bring {count} complaints, brings {found}")
    return failed


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 1 if self_test() + self_test_promises() else 0
    root = Path(__file__).resolve().parent.parent
    wrong = list(check(root, ["src", "encoding/src"]))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"docs: {len(wrong)} numbers without a unit" if wrong else "docs: every index and length has its unit")
    broken = list(promises(root, (root / "docs/SERVER.md").read_text(encoding="utf-8")))
    print(*broken, sep="\n", end="\n" if broken else "")
    print(f"docs: {len(broken)} promises without a test" if broken else "docs: every promise of the server has its tests")
    return 1 if wrong or broken else 0


if __name__ == "__main__":
    sys.exit(main())
