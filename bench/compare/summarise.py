#!/usr/bin/env python3
"""How many comparisons called two set-ups different, and how sure they were.

usage: summarise.py RAW_JSON
"""
import json
import statistics
import sys

with open(sys.argv[1], encoding="utf-8") as lines:
    runs = [json.loads(line) for line in lines]


def percent(interval):
    return "-" if interval is None else "{:+.1f} ({:+.1f} to {:+.1f})".format(*(100 * interval[at] for at in (1, 0, 2)))


def whole(interval):
    return "-" if interval is None else "{:.0f} ({:.0f} to {:.0f})".format(*(interval[at] for at in (1, 0, 2)))


print("| run | found | more frames/s, % | ns a frame more | the same at the fixed load | pairs "
      "| left out: disturbed, distance, not overloaded | seconds |")
print("|---|---|---|---|---|---|---|---|")
findings = []
for number, run in enumerate(runs, 1):
    for variant in run["variants"][1:]:
        findings.append(variant["finding"])
        print(
            f"| {number} | {variant['finding']} | {percent(variant['rate'])} | {whole(variant['cost_ns'])} "
            f"| {whole(variant['fixed_cost_ns'])} | {variant['pairs']} | {', '.join(map(str, variant['left_out']))} "
            f"| {run['took_s']:.0f} |"
        )
print()
decided = len(findings) - findings.count("NotDecided")
print(f"Decided {decided} of {len(findings)}.")
for finding in sorted(set(findings)):
    print(f"{finding}: {findings.count(finding)} of {len(findings)}.")
print(f"Seconds for one: {statistics.median(run['took_s'] for run in runs):.0f} (median), "
      f"{max(run['took_s'] for run in runs):.0f} at most.")
