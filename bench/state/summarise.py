"""Intervals of the maximum forwarding rate by build, and what trials forwarded in each state of the machine.

usage: python3 bench/state/summarise.py RAW_JSONL [SHARED_NS]"""
import json
import math
import statistics
import sys

# Between the two times that the piece of work takes on this machine, ns.
SHARED_NS = float(sys.argv[2]) if len(sys.argv) > 2 else 270

lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
print("| pair | build | maximum, kfps | half of its interval | round trip, ns | work, ns | at full speed, kfps |")
print("|---|---|---|---|---|---|---|")
halves, maxima, full_speeds = {}, {}, {}
for line in lines:
    if line["kind"] != "result":
        continue
    rate = line.get("max_forwarding_fps")
    if not rate:
        print(f"| {line['pair']} | {line['build']} | none | | | | |")
        continue
    half = (rate["high"] - rate["low"]) / 2 / rate["median"]
    halves.setdefault(line["build"], []).append(half)
    apart, work = line.get("max_forwarding_cpu_distance_ns"), line.get("max_forwarding_work_ns")
    maxima.setdefault(line["build"], []).append(math.log(rate["median"]))
    full, told = line.get("full_speed"), ""
    if full:
        fps = full["forwarding_fps"]
        full_speeds.setdefault(line["build"], []).append(math.log(fps["median"]))
        told = f"{fps['median'] / 1e3:.0f} ({fps['low'] / 1e3:.0f} to {fps['high'] / 1e3:.0f})"
    state = [f"{ns:.0f}" if ns else "" for ns in (apart, work)]
    print(f"| {line['pair']} | {line['build']} | {rate['median'] / 1e3:.0f} | {half * 100:.0f} % "
          f"| {state[0]} | {state[1]} | {told} |")
for build, all_of in halves.items():
    print(f"\n{build}: half of the interval is {statistics.median(all_of) * 100:.0f} % of the rate in the median.")


def spread(rates):
    """Standard deviation of the rates' logarithms."""
    return f"{statistics.pstdev(rates) * 100:.1f} %"


for build in maxima:
    print(f"{build}: {len(maxima[build])} maxima spread by {spread(maxima[build])}.")
    full = full_speeds.get(build, [])
    if len(full) > 1:
        print(f"{build}: {len(full)} rates at full speed spread by {spread(full)}.")

states = {}
for line in lines:
    trip, work = line.get("round_trip_ns"), line.get("work_ns")
    rate = line.get("forwarded_undisturbed_fps")
    if line.get("verdict") in ("lossless", "void") or not rate or rate > 0.98 * line["offered_fps"]:
        continue
    if not (trip and work) or trip["high"] > 2 * trip["low"] or work["high"] > 1.2 * work["low"]:
        continue
    state = ("far" if trip["median"] > 200 else "near", "shared" if work["median"] > SHARED_NS else "whole")
    states.setdefault(state, []).append(rate)
print("\nRouted trials at overload that were in one state (4 of 5 windows) from beginning to end:\n")
print("| CPUs | core | trials | forwarded, kfps: least, median, most |")
print("|---|---|---|---|")
for (apart, core), rates in sorted(states.items()):
    least, middle, most = min(rates), statistics.median(rates), max(rates)
    print(f"| {apart} | {core} | {len(rates)} | {least / 1e3:.0f}, {middle / 1e3:.0f}, {most / 1e3:.0f} |")
