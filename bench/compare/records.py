#!/usr/bin/env python3
"""How often `mpps compare` calls two runs of one set-up different: all pairs of runs of each record.

Each record holds several runs of one set-up. Pairs that it refuses to compare are counted apart.

usage: records.py MPPS RECORD_JSONL_XZ...
"""
import collections
import itertools
import json
import lzma
import pathlib
import subprocess
import sys
import tempfile


def split(record, folder):
    """The runs of a record as files of their own, without their trials, which no comparison reads."""
    runs = collections.OrderedDict()
    with lzma.open(record, "rt", encoding="utf-8") as lines:
        for line in lines:
            if '"kind":"trial"' not in line:
                runs.setdefault(json.loads(line)["run"], []).append(line)
    for run, lines in runs.items():
        (folder / f"{run}.jsonl").write_text("".join(lines), encoding="utf-8")
    first = json.loads(next(iter(runs.values()))[0])
    return first["method_version"], [folder / f"{run}.jsonl" for run in runs]


def finding(mpps, pair):
    compared = subprocess.run([mpps, "compare", *pair, "--json"], capture_output=True, text=True, check=False)
    if not compared.stdout:
        assert compared.returncode == 2 and "cannot be compared" in compared.stderr, compared
        return ["refused"]
    sizes = json.loads(compared.stdout)["compared"]
    return [(size["difference"] or {"finding": "refused"})["finding"] for size in sizes]


COLUMNS = ["different", "no-difference", "not-decided", "refused"]
print("| record | method version | " + " | ".join(COLUMNS) + " |")
print("|---" * (2 + len(COLUMNS)) + "|")
total = collections.Counter()
for record in map(pathlib.Path, sys.argv[2:]):
    with tempfile.TemporaryDirectory() as folder:
        version, runs = split(record, pathlib.Path(folder))
        pairs = itertools.combinations(runs, 2)
        found = collections.Counter(itertools.chain.from_iterable(finding(sys.argv[1], pair) for pair in pairs))
    assert set(found) <= set(COLUMNS), found
    total += found
    name = "/".join(record.parts[-3:-1])
    print(f"| {name} | {version} | " + " | ".join(str(found[column]) for column in COLUMNS) + " |")
compared = sum(total[column] for column in COLUMNS[:3])
print(f"\n{total['different']} of {compared} pairs are called different ({100 * total['different'] / compared:.1f} %).")
