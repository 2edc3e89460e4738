#!/usr/bin/env python3
"""The ceilings found, pair by pair, and what the machine was like meanwhile.

usage: summarise.py RAW.jsonl"""
import json
import statistics
import sys

lines = [json.loads(line) for line in open(sys.argv[1])]
builds = ("before", "after")


def of(kind, build, pair=None):
    return [x for x in lines if x["kind"] == kind and x["build"] == build and pair in (None, x["pair"])]


def ceiling(build, pair):
    found = [x["tester_ceiling_fps"] for x in of("result", build, pair)]
    return found[0] if found else None


pairs = sorted({x["pair"] for x in lines})
print("| pair | before, frames/s | after, frames/s | after / before |")
print("|---|---|---|---|")
ratios = []
for pair in pairs:
    both = [ceiling(build, pair) for build in builds]
    text = ["none found" if x is None else f"{x:.0f}" for x in both]
    if None not in both:
        ratios.append(both[1] / both[0])
    text.append("-" if None in both else f"{ratios[-1]:.2f}")
    print(f"| {pair} | " + " | ".join(text) + " |")
print()
for build in builds:
    found = [x for x in (ceiling(build, pair) for pair in pairs) if x is not None]
    trials = [x for x in of("trial", build) if x["phase"] == "ceiling"]
    void = sum(x["verdict"] == "void" for x in trials)
    speeds = [speed for x in trials for speed in x["speeds"]]
    best = min(min(s["before_ns"], s["after_ns"]) for s in speeds)
    slow = sum(min(s["before_ns"], s["after_ns"]) > 1.1 * best for s in speeds)
    middle = f"median {statistics.median(found):.0f}, {min(found):.0f} to {max(found):.0f} frames/s; " if found else ""
    print(f"{build.capitalize()}: found {len(found)} of {len(pairs)}; {middle}{len(trials)} trials, {void} void; "
          f"a CPU over 10 % slow on both sides of {slow} of {len(speeds)}.  ")
if ratios:
    print(f"After / before: median {statistics.median(ratios):.2f}, {min(ratios):.2f} to {max(ratios):.2f}.")
