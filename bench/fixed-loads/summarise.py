#!/usr/bin/env python3
"""What was forwarded at each load, and what a frame cost there, by build: medians over the pairs.

usage: summarise.py RAW.jsonl"""
import json
import statistics
import sys

runs = [json.loads(line) for line in open(sys.argv[1])]
results = [{"build": run["build"], **load} for run in runs for load in run["loads"]]


def median(values):
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


def shown(value, digits=0):
    return "-" if value is None else f"{value:.{digits}f}"


print("| offered | pairs | forwarded before, Mfps | after | a frame before, ns | after | through a wire before, ns | after |")
print("|---|---|---|---|---|---|---|---|")
loads = list(dict.fromkeys(result["load"] for result in results))
for load in loads:
    row = [load, str(sum(r["load"] == load and r["build"] == "after" for r in results))]
    own = {build: [r for r in results if r["load"] == load and r["build"] == build] for build in ("before", "after")}
    for of, digits in (
        (lambda r: r["trials"][0]["forwarding_fps"] / 1e6, 3),
        (lambda r: r["trials"][0]["ns_per_frame"], 0),
        (lambda r: (r["wire"] or {}).get("ns_per_frame"), 0),
    ):
        row += [shown(median([of(r) for r in own[build]]), digits) for build in ("before", "after")]
    print("| " + " | ".join(row) + " |")
