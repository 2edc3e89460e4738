#!/usr/bin/env python3
"""How often the search's lossy trials forwarded more than overload, and whether the rate without loss lies above the interval.
usage: bench/overload/searched.py TRIALS.jsonl[.xz] ...     By whole trials: a record has no windows of the search.
"""
import json
import lzma
import statistics
import sys

BUSY = 0.95
FEWEST = 3
# The search's trials count if they forwarded more than runs differ by.
MORE = 1.02
# A 95 % interval's half is at least this share of the rate.
RUNS_APART = 0.039


def alike(one, other, factor):
    return bool(one and other) and max(one / other, other / one) < factor


def forwarded(trial, result):
    """Frames/s of a lossy trial whose CPU was full, in the state of the maximum; else None."""
    middle = lambda name: (trial.get(name) or {}).get("median")
    busy = max((cpu["run_ns"] for cpu in trial["busy"]), default=0) / trial["duration_ns"]
    same = alike(middle("round_trip_ns"), result.get("max_forwarding_cpu_distance_ns"), 1.5)
    same = same and alike(middle("work_ns"), result.get("max_forwarding_work_ns"), 1.1)
    if trial["verdict"] != "lossy" or busy < BUSY or not same:
        return None
    return sum(way["received_frames"] for way in trial["directions"]) / trial["duration_ns"] * 1e9


for path in sys.argv[1:]:
    trials, results = {}, []
    with (lzma.open if path.endswith("xz") else open)(path, "rt") as lines:
        for line in map(json.loads, lines):
            if line.get("kind") == "trial":
                trials[line["run"], line["trial"]] = line
            elif line.get("kind") == "result" and line.get("max_forwarding_fps"):
                results.append(line)
    more, above = [], [0, 0]
    for result in results:
        maximum = result["max_forwarding_fps"]
        searched = [trials[result["run"], number] for number in result["search_trials"]]
        full = [fps for fps in (forwarded(trial, result) for trial in searched) if fps]
        high = [maximum["high"], maximum["high"]]
        if len(full) >= FEWEST and statistics.median(full) > MORE * maximum["median"]:
            more.append(statistics.median(full) / maximum["median"] - 1)
            high[1] = max(high[1], statistics.median(full) * (1 + RUNS_APART))
        confirmed = result["rate_is"] in ("=", ">=") and result["rate_fps"]
        above = [count + bool(confirmed and confirmed > end) for count, end in zip(above, high)]
    shares = " ".join(f"{100 * share:.1f}" for share in sorted(more))
    print(f"{path}: {len(results)} results, {len(more)} forwarded more in the search, by ({shares}) %; a confirmed rate "
          f"without loss is above overload's interval in {above[0]}, and above that of both in {above[1]}")
