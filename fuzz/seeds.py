#!/usr/bin/env python3
"""Writes the seeds of every fuzz target: seeds/TARGET.hex, one input a line, in hex.

They are made of testdata: the golden vectors, the updates within the cases, the malformed inputs. What is long is left
out, so that all of them stay below 200 kB. `seeds.py --unpack TARGET FOLDER` writes the seeds and the crashers of a
target as files, which is what libFuzzer wants.
"""

import json
import random
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTDATA = HERE.parent / "testdata"
LONGEST = 400  # bytes of an input
TARGETS = ("primitives decode_v1 decode_v2 apply_v1 apply_v2 merge diff convert awareness sync positions "
           "replicas").split()


def read(path):
    return json.loads((TESTDATA / path).read_text(encoding="utf-8"))


def blobs(node):
    """All update pairs of V1 and V2 anywhere in a case."""
    if isinstance(node, dict):
        if isinstance(node.get("updateV1"), str) and isinstance(node.get("updateV2"), str):
            yield node["updateV1"], node["updateV2"]
        for value in node.values():
            yield from blobs(value)
    elif isinstance(node, list):
        for value in node:
            yield from blobs(value)


def unhex(text):
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""


def part(data):
    return bytes([len(data) & 255, len(data) >> 8]) + data


def gather():
    v1, v2, other = [], [], {}
    for vector in read("vectors/yjs-vectors.json")["vectors"]:
        if vector["kind"] == "update":
            v1.append(unhex(vector["v1"]))
            v2.append(unhex(vector["v2"]))
        else:
            found = [unhex(vector[key]) for key in ("hex", "v1", "v2") if isinstance(vector.get(key), str)]
            other.setdefault(vector["kind"], []).extend(found)
    for case in read("cases/cases.json"):
        for one, two in list(blobs(case["golden"]))[:2]:
            v1.append(unhex(one))
            v2.append(unhex(two))
    for entry in read("malformed/index.json"):
        data = unhex((TESTDATA / "malformed" / entry["file"]).read_text().strip())
        {"v1": v1, "v2": v2}.get(entry["format"], other.setdefault(entry["format"], [])).append(data)

    def fit(inputs):
        return sorted({data for data in inputs if len(data) <= LONGEST}, key=lambda data: (len(data), data))

    v1, v2 = fit(v1), fit(v2)
    other = {kind: fit(inputs) for kind, inputs in other.items()}
    lots = random.Random(1)
    few1, few2 = lots.sample(v1, min(90, len(v1))), lots.sample(v2, min(90, len(v2)))
    states = other["stateVector"] + other["sv"] + [b"\x00"]

    def applied(updates):
        for place, data in enumerate(updates):
            yield bytes([place % 16]) + data
        for place in range(0, len(updates) - 2, 2):
            yield bytes([16 + 17 * (place % 15) & 0x7F | 16]) + part(updates[place]) + updates[place + 1]

    return {
        "primitives": [bytes([kind]) + data for kind in range(12) for data in other["lib0"][::2]]
        + [bytes([kind, *b"\x04text\x02"]) for kind in (4, 5, 6, 7)] + [b"\x03" + b'{"a":[1,-0.5,1e21,"\\ud83d\\ude00"]}'],
        "decode_v1": few1, "decode_v2": few2,
        "apply_v1": list(applied(few1)), "apply_v2": list(applied(few2)),
        "merge": [bytes([kind]) + part(a) + part(b) + a for kind, few in ((0, few1), (1, few2))
                  for a, b in zip(few[::3], few[1::3])],
        "diff": [bytes([kind]) + part(state) + data for kind, few in ((0, few1), (1, few2))
                 for data, state in zip(few[::2], states * 50)],
        "convert": [b"\x00" + data for data in few1[::2]] + [b"\x01" + data for data in few2[::2]],
        "awareness": [b"\x00" + data for data in other["awareness"]]
        + [b"\x01" + part(data) + data for data in other["awareness"]],
        "sync": [b"\x00" + data for data in other["sync"]] + other["ws"]
        + [b"\x01" + bytes([len(data)]) + data for data in other["awareness"] if len(data) < 128],
        "positions": [bytes([0]) + data for data in other["relativePosition"] + other["relpos"]]
        + [bytes([2 + 8]) + data for data in other["snapshot"]]
        + [bytes([2 + 8 + 16]) + data for data in other["snapshot"]]
        + [bytes([4]) + data for data in states] + [bytes([5]) + data for data in other["snapshot"]]
        + [b"\x06\x01\x76\x01\x08autoLoad\x78", b"\x07\x03", b"\x17\x09"],
        "replicas": [lots.randbytes(length) for length in (8, 20, 40, 60, 90, 120, 200, 300)],
    }


def main():
    if sys.argv[1:2] == ["--unpack"]:
        target, folder = sys.argv[2], Path(sys.argv[3])
        folder.mkdir(parents=True, exist_ok=True)
        for place, line in enumerate((HERE / "seeds" / f"{target}.hex").read_text().split("\n")[:-1]):
            (folder / f"seed-{place}").write_bytes(bytes.fromhex(line))
        for crasher in (TESTDATA / "crashers" / target).glob("*"):
            (folder / f"crasher-{crasher.name}").write_bytes(crasher.read_bytes())
        return
    (HERE / "seeds").mkdir(exist_ok=True)
    made, size = gather(), 0
    for target in TARGETS:
        lines = list(dict.fromkeys(data.hex() for data in made[target]))
        (HERE / "seeds" / f"{target}.hex").write_text("".join(f"{line}\n" for line in lines))
        size += sum(len(line) // 2 for line in lines)
        print(f"{target}: {len(lines)} seeds")
    assert size < 200_000, f"{size} bytes of seeds"


if __name__ == "__main__":
    main()
