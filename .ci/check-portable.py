#!/usr/bin/env python3
"""Checks that the libraries ask nothing of the operating system that wasm32-unknown-unknown lacks: no clock, threads,
files, network, processes or environment, outside of the one file that gates its clock. Tests are left out.

Usage: check-portable.py              check src/ and encoding/src/
       check-portable.py --self-test  check that the checker finds what it should
"""

import importlib.util
import re
import sys
import tempfile
from pathlib import Path

spec = importlib.util.spec_from_file_location("layers", Path(__file__).with_name("check-layers.py"))
layers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(layers)

# Has a clock for each platform behind `cfg`.
GATED = {"src/clock.rs"}

FORBIDDEN = re.compile(
    r"\b(?:std\s*::\s*(?:fs|net|process|env)\b"
    r"|std\s*::\s*thread\s*::\s*(?!panicking\b|LocalKey\b)\w+"
    r"|thread\s*::\s*(?:spawn|scope|sleep|park|current|Builder)\b"
    r"|Instant\s*::\s*now|SystemTime\b)"
)
# `use std::{fs, thread}`
GROUPED = re.compile(r"\bstd\s*::\s*\{[^;]*\b(?:fs|net|process|env|thread)\b")


def check(root, sources):
    wrong = []
    for source in sources:
        for file in sorted((root / source).rglob("*.rs")):
            name = file.relative_to(root).as_posix()
            if name in GATED or file.name == "tests.rs" or "tests" in file.parts:
                continue
            text, _ = layers.without_tests(layers.without_comments_and_strings(file.read_text(encoding="utf-8")))
            for pattern in (FORBIDDEN, GROUPED):
                for match in pattern.finditer(text):
                    line = text.count("\n", 0, match.start()) + 1
                    wrong.append(f"{name}:{line}: `{' '.join(match.group().split())}` is not there on wasm32")
    return wrong


def self_test():
    good = "use std::time::Duration;\nfn f() -> bool { std::thread::panicking() } // std::fs\n" \
           "#[cfg(test)]\nmod tests { use std::fs; }\nthread_local! { static A: u8 = 0; }\n"
    bad = ["use std::fs;", "use std::{io, net};", "std::thread::spawn(f);", "thread::sleep(d);",
           "std::time::Instant::now()", "use std::time::SystemTime;", "std::env::var(x)"]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "src" / "a.rs"
        file.parent.mkdir()
        for text, count in [(good, 0)] + [(text, 1) for text in bad]:
            file.write_text(text, encoding="utf-8")
            if len(check(Path(folder), ["src"])) != count:
                failed += 1
                print(f"self-test: {text!r} should bring {count} complaints")
    return failed


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 1 if self_test() else 0
    wrong = check(Path(__file__).resolve().parent.parent, ["src", "encoding/src"])
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"portable: {len(wrong)} uses of the system" if wrong else "the libraries ask nothing of the system")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
