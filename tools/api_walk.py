#!/usr/bin/env python3
"""Walks the public API of yrs over yatta, mechanically, and says what is missing.

Reads testdata/yrs-api.txt (the public API of yrs 0.28.1), writes a Rust program that names every module, type, trait,
constant, function, method, variant, public field and trait impl, one a line, and lets the compiler judge each line.
Errors that only say "the type cannot be inferred" mean that the name is there. Signatures are not compared beyond that.

    tools/api_walk.py             fails if something is missing that testdata/api-missing.txt does not name with a reason,
                                  or if that file names something that is not missing any more: the list may only shrink
    tools/api_walk.py --update    rewrites the list and keeps the reasons
    tools/api_walk.py --self-test walks over yrs itself, where nothing may be missing

The build goes to target/ (or CARGO_TARGET_DIR).
"""

import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
API = os.path.join(HERE, "testdata/yrs-api.txt")
LIST = os.path.join(HERE, "testdata/api-missing.txt")
CRATE = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(HERE, "target")), "api-walk")

SELF_TEST = "--self-test" in sys.argv
WALKED = '{ package = "yrs", version = "=0.28.1", features = ["weak", "sync"] }' if SELF_TEST else f'{{ path = "{HERE}", features = ["weak"] }}'

# The listing prints child modules before the rest of their parent; these lines are where a parent goes on.
RESUMED = {
    ("yrs::types::xml", "pub use map::Map"): "yrs::types",
    ("yrs::sync::time", "pub use crate::sync::awareness::Awareness"): "yrs::sync",
    ("yrs::undo", "pub use crate::alt::diff_updates_v1"): "yrs",
}

# The name is there, the compiler only wants to know more of it.
PRESENT = {"E0282", "E0283", "E0284", "E0790", "E0107", "E0061", "E0015", "E0038", "E0712", "E0716", "E0308", None}

STD = {"Clone", "Copy", "Debug", "Default", "Eq", "Hash", "Ord", "PartialEq", "PartialOrd", "Display", "Deref",
       "DerefMut", "Iterator", "DoubleEndedIterator", "ExactSizeIterator", "IntoIterator", "Future", "Error", "Serialize"}
STD_PATH = {"Debug": "std::fmt::Debug", "Display": "std::fmt::Display", "Hash": "std::hash::Hash", "Deref": "std::ops::Deref",
            "DerefMut": "std::ops::DerefMut", "Future": "std::future::Future", "Error": "std::error::Error",
            "Serialize": "serde::Serialize", "Deserialize<'de>": "serde::de::DeserializeOwned"}
# For a type of some other type: what to put in its place where a trait is asked for.
ARGUMENTS = {
    "Diff": "<yatta::Any>", "Delta": "<yatta::Out>", "Root": "<u64>", "Nested": "<u64>",
    "Hook": "<u64>", "WeakRef": "<yatta::TextRef>", "WeakPrelim": "<yatta::TextRef>", "IdMap": "<u64>",
    "ContentAttribute": "<u64>", "ContentAttributes": "<u64>", "AttrRange": "<u64>", "EmbedPrelim": "<yatta::TextPrelim>",
    "AtomicRef": "<u64>", "Signed": "<i64>", "StackItem": "<u64>", "Event": "<u64>", "Options": "<u64>", "UndoManager": "<u64>",
}
# Impls that the listing ascribes to a type and that are those of a pointer to it. So is every `AsRef` of a type to itself,
# and they are few enough to be named: the self-test finds them.
OF_POINTERS = {("Item", "From<&'a Item>"), ("Branch", "AsMut<Branch>"), ("Branch", "From<&'a Branch>")}
GENERIC_IN_UNDO = {"Event", "Options"}


def split(text, separator):
    """Splits at the separator outside of brackets."""
    parts, depth, start = [], 0, 0
    for at, c in enumerate(text):
        if c in "<([{":
            depth += 1
        elif c in ">)]}" and text[at - 1] not in "-=":
            depth -= 1
        elif c == separator and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [part for part in parts + [text[start:].strip()] if part]


def generics(rest):
    """The number of type and of lifetime parameters of a declaration `<…> …`."""
    if not rest.startswith("<"):
        return 0, 0
    depth = 0
    for at, c in enumerate(rest):
        depth += (c == "<") - (c == ">" and rest[at - 1] != "-")
        if depth == 0:
            break
    parameters = split(rest[1:at], ",")
    lifetimes = sum(parameter.startswith("'") for parameter in parameters)
    return len(parameters) - lifetimes, lifetimes


class Walk:
    def __init__(self):
        self.names = []  # (what, line of Rust): must resolve
        self.uses = []  # (what, path it needs, line of Rust)
        self.module = "yrs"
        self.current = None  # (kind, path, name, number of type parameters)
        self.indent = 0  # of the declaration of `current`
        self.defined = []

    def path(self, name):
        return f"{self.module}::{name}".replace("yrs", "yatta", 1)

    def name(self, path, what=None, macro=False):
        self.names.append((what or path, f"pub use {path} as n{len(self.names)};"))

    def use(self, what, line, path=None):
        self.uses.append((what, path or self.current[1], line))

    def read(self, text):
        for line in text.splitlines():
            self.line(line)

    def line(self, line):
        bare = line.strip()
        if not bare or bare == "CRATE" or bare.isdigit():
            return
        if bare.startswith("MOD "):
            self.module = bare[4:]
            if self.module != "yrs":
                self.name(self.module.replace("yrs", "yatta", 1))
            return
        self.module = RESUMED.get((self.module, bare), self.module)
        bare = bare.replace(" #[deprecated]", "").replace(" !Send/!Sync", "").replace(" !Sync", "").replace(" !Send", "")
        indent = len(line) - len(line.lstrip())
        inside = self.current is not None and indent > self.indent
        if bare.startswith("pub use "):
            self.current = None
            self.name(self.path(bare.split("::")[-1]))
        elif match := re.match(r"(STRUCT|ENUM|TRAIT) (\w+)(.*)", bare):
            self.define(*match.groups(), indent)
        elif match := re.match(r"(const|type) (\w+)", bare):
            if inside:
                self.associated(*match.groups())
            else:
                self.name(self.path(match[2]))
        elif match := re.match(r"MACRO (\w+)", bare):
            self.names.append((f"yatta::{match[1]}!", f"pub fn m{len(self.names)}() -> yatta::Any {{ yatta::{match[1]}!(null) }}"))
        elif match := re.match(r"(?:req )?fn (?:const |async )*(\w+)", bare):
            if inside:
                self.method(match[1])
            elif indent == 0:
                self.name(self.path(match[1]))
        elif bare.startswith("traits: "):
            for trait in split(bare[8:], ","):
                self.trait(trait)
        elif bare.startswith("impl"):
            pass
        elif bare.startswith("implementors: "):
            pass  # the other side of `traits:`
        else:
            raise SystemExit(f"what is this line? {line}")

    def define(self, kind, name, rest, indent):
        path = self.path(name)
        types, _ = generics(rest)
        self.current, self.indent = (kind, path, name, types), indent
        self.defined.append(self.current)
        if indent == 0:
            self.name(path)
        if kind == "ENUM":
            body = rest[rest.index("{") + 1 : rest.rindex("}")]
            for variant in split(body, "|"):
                variant = re.match(r"\w+", variant)[0]
                self.use(f"{path}::{variant}", f"|x: {self.type()}| matches!(x, {path}::{variant} {{ .. }})")
        elif kind == "STRUCT" and (match := re.search(r" \{(.*)\}", rest)):
            for field in split(match[1], ","):
                if ":" in field:
                    field = field.split(":")[0].strip()
                    self.use(f"{path}.{field}", f"|x: {self.type()}| {{ let _ = &x.{field}; }}")

    def type(self, arguments=None):
        _, path, _, types = self.current
        return path + (arguments or (f"<{', '.join(['_'] * types)}>" if types else ""))

    def method(self, name):
        kind, path, *_ = self.current
        if kind == "TRAIT":
            self.use(f"{path}::{name}", f"|| {{ let _ = <_ as {path}>::{name}; }}")
        else:
            self.use(f"{path}::{name}", f"|| {{ let _ = <{self.type()}>::{name}; }}")

    def associated(self, keyword, name):
        kind, path, *_ = self.current
        if keyword == "type":
            bound = path + ("<'static>" if path.endswith("AsyncTransact") else "")
            self.use(f"{path}::{name}", f"|| {{ fn f<T: {bound}>(_: <T as {bound}>::{name}) {{}} }}")
        else:
            self.use(f"{path}::{name}", f"|| {{ let _ = <{self.type()}>::{name}; }}")

    def trait(self, trait):
        _, path, name, types = self.current
        what = f"{path}: {trait}"
        base = trait.split("<")[0]
        if trait == f"AsRef<{name}>" or (name, trait) in OF_POINTERS:
            return
        if trait in STD_PATH:
            bound = STD_PATH[trait]
        elif trait in STD:
            bound = trait
        elif match := re.fullmatch(r"(From|Into|TryFrom|TryInto|AsRef|AsMut|PartialEq|FromIterator)<(.*)>", trait):
            argument = self.argument(match[2])
            if argument is None:
                return
            bound = f"{match[1]}<{argument}>"
        elif "<" not in trait and base in self.known_traits:
            bound = self.known_traits[base]
        else:
            return
        arguments = ARGUMENTS.get(name) if types else ""
        if name in GENERIC_IN_UNDO and "undo" not in path:
            arguments = "" if not types else arguments
        if types and arguments is None:
            return
        self.use(what, f"|| {{ fn f<T: {bound}>() {{}} f::<{path}{arguments}>(); }}")

    def argument(self, text):
        """A type of an impl, if it says which one without context."""
        text = re.sub(r"'[a-z]+\b", "'static", text)
        if re.search(r"\b[A-Z]\b|<_>|T::", text):
            return None
        for name in set(re.findall(r"\b[A-Z]\w+", text)):
            if name in {"String", "Vec", "Box", "Option"}:
                continue
            full = {"Arc": "std::sync::Arc", "HashMap": "std::collections::HashMap", "Pin": "std::pin::Pin",
                    "SmallVec": "smallvec::SmallVec"}.get(name) or self.known_types.get(name)
            if full is None:
                return None
            text = re.sub(rf"(?<!:)\b{name}\b", full, text)
        if text.endswith("str") or text.startswith("&"):
            text = re.sub(r"&(?!')", "&'static ", text)
        return text

    known_traits, known_types = {}, {}


def known(text):
    """Names that stand for one path only."""
    traits, types = {}, {}
    walk = Walk()
    walk.trait = lambda _: None
    walk.read(text)
    seen = {}
    for kind, path, name, parameters in walk.defined:
        seen.setdefault(name, []).append((kind, path, parameters))
    for name, places in seen.items():
        if len(places) == 1:
            kind, path, parameters = places[0]
            if kind == "TRAIT":
                traits[name] = path
            elif parameters == 0 or name not in ARGUMENTS:
                types[name] = path
    return traits, types


def compile_program(names, uses):
    os.makedirs(os.path.join(CRATE, "src"), exist_ok=True)
    with open(os.path.join(CRATE, "Cargo.toml"), "w") as file:
        file.write(
            '[package]\nname = "api-walk"\nversion = "0.0.0"\nedition = "2024"\n\n[dependencies]\n'
            f'yatta = {WALKED}\nserde = "1"\nsmallvec = "1"\n\n[workspace]\n'
        )
    lines = ["#![allow(unused, deprecated, private_interfaces)]"] + [line for _, line in names]
    lines += [f"pub fn u{place}() {{ let _ = {line}; }}" for place, (_, _, line) in enumerate(uses)]
    with open(os.path.join(CRATE, "src/lib.rs"), "w") as file:
        file.write("\n".join(lines) + "\n")
    command = ["cargo", "check", "--quiet", "--message-format=json", "--manifest-path", os.path.join(CRATE, "Cargo.toml")]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "CARGO_TARGET_DIR": os.path.dirname(CRATE)})
    errors, compiled = {}, False
    for message in map(json.loads, done.stdout.splitlines()):
        if message["reason"] == "compiler-message" and message["target"]["name"] in ("api-walk", "api_walk"):
            compiled = True
            message = message["message"]
            if message["level"] == "error" and message["spans"]:
                code = (message["code"] or {}).get("code")
                span = next(span for span in message["spans"] if span["is_primary"])
                while span.get("expansion") and not span["file_name"].endswith("api-walk/src/lib.rs"):
                    span = span["expansion"]["span"]
                errors.setdefault(span["line_start"], []).append((code, message["message"]))
        compiled |= message.get("reason") == "build-finished" and message.get("success", False)
    if not compiled:
        raise SystemExit("yatta itself does not compile")
    return lines, errors


def main():
    text = open(API).read()
    Walk.known_traits, Walk.known_types = known(text)
    walk = Walk()
    walk.read(text)
    missing = {}
    lines, errors = compile_program(walk.names, [])
    for place, (what, _) in enumerate(walk.names):
        for code, message in errors.get(place + 2, []):
            missing[what] = message
    gone = set(missing)
    # What hangs on a missing name is missing with it, and is not counted again.
    uses = [use for use in walk.uses if use[1] not in gone]
    kept = [name for name in walk.names if name[0] not in gone]
    # Resolution errors hide the errors of later phases, so lines with one are taken out until none is left.
    total = len(walk.names) + len(walk.uses)
    for _ in range(8):
        lines, errors = compile_program(kept, uses)
        if not errors:
            break
        bad, left = set(), []
        for place, use in enumerate(uses):
            found = errors.get(place + 2 + len(kept), [])
            real = [message for code, message in found if code not in PRESENT]
            if real:
                missing[use[0]] = real[0]
                bad.add(place)
            elif found:
                bad.add(place)
        for place, use in enumerate(uses):
            if place not in bad:
                left.append(use)
        if not bad:
            raise SystemExit(f"errors outside of the walk: {errors}")
        uses = left
    else:
        raise SystemExit("the walk does not come to an end")
    report(missing, total, walk)


def report(missing, total, walk):
    hidden = [use[0] for use in walk.uses if use[1] in missing]
    print(f"{total} names and impls of yrs, {len(missing)} missing, {len(hidden)} more hang on a missing name")
    listed = {} if SELF_TEST else read_list()
    if "--update" in sys.argv:
        with open(LIST, "w") as file:
            file.write("# What yatta lacks of the API of yrs 0.28.1, each with the reason (docs/DESIGN.md has what to write instead).\n")
            file.write("# Made by tools/api_walk.py --update; it may only shrink.\n")
            file.writelines(f"{what} # {listed.get(what, '')}\n" for what in sorted(missing))
        return
    new, old = sorted(set(missing) - set(listed)), sorted(set(listed) - set(missing))
    bare = sorted(what for what, reason in listed.items() if not reason)
    for what in new:
        print(f"missing: {what}\n    {missing[what]}")
    for what in old:
        print(f"not missing any more, take it out of the list: {what}")
    for what in bare:
        print(f"in the list without a reason: {what}")
    sys.exit(1 if new or old or bare else 0)


def read_list():
    """What is known to be missing, with the reason of each."""
    lines = [line.strip() for line in open(LIST)] if os.path.exists(LIST) else []
    pairs = [line.split(" # ", 1) for line in lines if line and not line.startswith("#")]
    return {pair[0].removesuffix(" #"): pair[1] if len(pair) == 2 else "" for pair in pairs}


if __name__ == "__main__":
    main()
