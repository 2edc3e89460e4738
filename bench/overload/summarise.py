#!/usr/bin/env python3
"""Answers, limits, and how far apart runs in a row are.

usage: summarise.py OUT_FOLDER
"""
import json
import statistics
import sys

folder = sys.argv[1]
with open(f"{folder}/raw.jsonl") as lines:
    runs = [json.loads(line) for line in lines]
with open(f"{folder}/trials.jsonl") as lines:
    trials = [json.loads(line) for line in lines]
by_run = {}
for line in trials:
    if line["kind"] == "trial":
        by_run.setdefault(line["run"], []).append(line)
# Records and results come in the same order.
names = [line["run"] for line in trials if line["kind"] == "run"]


def stolen(run):
    shares = [cpu["steal_ns"] / max(trial["duration_ns"], 1) for trial in by_run.get(run, []) for cpu in trial["steal"]]
    return sum(shares) / max(len(shares), 1)


def row(result, name):
    cost = result.get("cost") or {}
    most = result["max_forwarding_fps"]
    part = lambda which: (cost.get(which) or {}).get("median")
    return {
        "most": most["median"], "low": most["low"], "high": most["high"], "busy": result["max_forwarding_busy_share"],
        "limit": result["max_forwarding_limited_by"], "distance": result.get("max_forwarding_cpu_distance_ns"),
        "router": part("router_ns"), "bed": part("bed_ns"), "rate": result["rate_fps"], "stolen": stolen(name),
    }


rows = []
print(f"{len(runs)} runs of `mpps throughput --frame 64`, one after the other.\n")
print("| run | exit | s | max forwarding, Mfps | busy | limited by | router ns | bed ns | without loss, Mfps | CPU distance, ns | stolen |")
print("|---|---|---|---|---|---|---|---|---|---|---|")
for run, name in zip(runs, names):
    result = (run["results"] or [{}])[0]
    head = f"| {run['run']} | {run['exit_code']} | {run['took_s']:.0f} |"
    if not result.get("max_forwarding_fps"):
        print(head + " none | | | | | | | |")
        rows.append(None)
        continue
    r = row(result, name)
    rows.append(r)
    number = lambda value, digits=0: "-" if value is None else f"{value:.{digits}f}"
    rate = "-" if r["rate"] is None else f"{r['rate'] / 1e6:.3f}"
    print(f"{head} {r['most'] / 1e6:.3f} ({r['low'] / 1e6:.3f} to {r['high'] / 1e6:.3f}) | {number(r['busy'], 3)} | {r['limit']} |"
          f" {number(r['router'])} | {number(r['bed'])} | {rate} | {number(r['distance'])} | {r['stolen'] * 100:.1f} % |")
there = [r for r in rows if r]
busy = [r for r in there if (r["busy"] or 0) >= 0.95]
print(f"\nAnswers: {len(there)} of {len(rows)}. The router's CPU was at least 95 % busy in {len(busy)}.")
pairs = [(a, b) for a, b in zip(rows[::2], rows[1::2]) if a and b]


def alike(pair):
    near = not all(r["distance"] for r in pair) or max(r["distance"] for r in pair) <= 1.5 * min(r["distance"] for r in pair)
    return near and all(r["stolen"] <= 0.02 for r in pair)


for which, chosen in (("Pairs on a machine that stayed the same (steal up to 2 %, same CPU distance)", [p for p in pairs if alike(p)]),
                      ("Other pairs", [p for p in pairs if not alike(p)])):
    apart = sorted(abs(a["most"] - b["most"]) / max(a["most"], b["most"]) for a, b in chosen)
    if apart:
        print(f"{which}: {sum(x <= 0.05 for x in apart)} of {len(apart)} within 5 %; apart by"
              f" {', '.join(f'{x * 100:.1f}' for x in apart)} % (median {statistics.median(apart) * 100:.1f} %).")
