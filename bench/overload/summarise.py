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
begun = [(line["run"], line["begun_utc"]) for line in trials if line["kind"] == "run"]


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
        "work": result.get("max_forwarding_work_ns"),
        "router": part("router_ns"), "bed": part("bed_ns"), "rate": result["rate_fps"], "ended": result["limited_by"], "stolen": stolen(name),
    }


rows = []
print(f"{len(runs)} runs of `mpps throughput --frame 64`, one after the other.\n")
print("| run | begun | exit | s | max forwarding, Mfps | busy | limited by | router ns | bed ns | without loss, Mfps | search ended by | CPU distance, ns | stolen |")
print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
for run, (name, at) in zip(runs, begun):
    result = (run["results"] or [{}])[0]
    head = f"| {run['run']} | {at[11:16]} | {run['exit_code']} | {run['took_s']:.0f} |"
    if not result.get("max_forwarding_fps"):
        print(head + " none | | | | | | | | |")
        rows.append(None)
        continue
    r = row(result, name)
    rows.append(r)
    number = lambda value, digits=0: "-" if value is None else f"{value:.{digits}f}"
    rate = "-" if r["rate"] is None else f"{r['rate'] / 1e6:.3f}"
    print(f"{head} {r['most'] / 1e6:.3f} ({r['low'] / 1e6:.3f} to {r['high'] / 1e6:.3f}) | {number(r['busy'], 3)} | {r['limit']} |"
          f" {number(r['router'])} | {number(r['bed'])} | {rate} | {r['ended']} | {number(r['distance'])} | {r['stolen'] * 100:.1f} % |")
there = [r for r in rows if r]
busy = [r for r in there if (r["busy"] or 0) >= 0.95]
firsts = [(run["results"] or [{}])[0] for run in runs]
answers = [first for run, first in zip(runs, firsts) if run["exit_code"] == 0 and first.get("outcome") == "found"]
# Before version 19 of the method a rate that was not confirmed stood as a bound.
lacks = ("lacks some of its trials", "had not had all its trials")
sure = [first for first in answers if first["rate_is"] in ("=", ">=") and not any(text in (first["irregular"] or "") for text in lacks)]
print(f"\nAnswers (exit code 0, with a rate without loss): {len(answers)} of {len(runs)}, of which {len(sure)} confirmed."
      f" With a maximum forwarding rate: {len(there)}; the router's CPU was at least 95 % busy in {len(busy)}.")


def within(pair, which, times):
    values = [r[which] for r in pair]
    return not all(values) or max(values) <= times * min(values)


def alike(pair):
    return within(pair, "distance", 1.5) and within(pair, "work", 1.05) and all(r["stolen"] <= 0.02 for r in pair)


def apart(pair):
    a, b = (r["most"] for r in pair)
    return abs(a - b) / max(a, b)


neighbours = [(a, b) for a, b in zip(rows, rows[1:]) if a and b]
for name, pairs in (("Pairs (1 and 2, 3 and 4, ...)", [(a, b) for a, b in zip(rows[::2], rows[1::2]) if a and b]),
                    ("Each run and the next one", neighbours)):
    for where, chosen in (("in one state", [p for p in pairs if alike(p)]), ("in two states", [p for p in pairs if not alike(p)])):
        far = sorted(map(apart, chosen))
        if far:
            print(f"\n{name}, {where}: {sum(x <= 0.05 for x in far)} of {len(far)} within 5 %; apart by"
                  f" {', '.join(f'{x * 100:.1f}' for x in far)} % (median {statistics.median(far) * 100:.1f} %).")
print("\nOne state: steal up to 2 %, CPU distances within a factor of 1.5, a fixed piece of work within 5 %.")
