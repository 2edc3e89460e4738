#!/usr/bin/env python3
"""How far runs in one state of a machine are apart beyond their own intervals: the most likely standard deviation.

usage: apart.py RAW_JSONL...      (raw.jsonl of bench/overload or bench/evidence, of method version 8 or older: from
version 9 on an interval has this already)
"""
import json
import math
import sys

DEVIATIONS = 1.96  # of a normal distribution on each side of its middle 95 %
CHOSEN = 0.015  # RUNS_APART in crates/method/src/interval.rs


def results(path):
    """In the order of the runs; None where a run has no rate."""
    with open(path, encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            if line.get("kind") in ("run", "end", "whole"):
                continue
            result = line if line.get("kind") == "result" else (line["results"] or [{}])[0]
            yield result if result.get("max_forwarding_fps") else None


def within(pair, member, times):
    values = [result.get(member) for result in pair]
    return all(values) and max(values) <= times * min(values)


def pairs(path):
    """Each run and the next one, if the machine was in one state."""
    runs = list(results(path))
    near = [pair for pair in zip(runs, runs[1:]) if all(pair)]
    return [p for p in near if within(p, "max_forwarding_cpu_distance_ns", 1.5) and within(p, "max_forwarding_work_ns", 1.05)]


def rates(pair):
    return [result["max_forwarding_fps"] for result in pair]


def likelihood(found, deviation):
    def of_pair(pair):
        own = [((rate["high"] - rate["low"]) / 2 / DEVIATIONS / rate["median"]) ** 2 for rate in rates(pair)]
        variance = sum(own) + 2 * deviation**2 + 1e-9
        apart = math.log(rates(pair)[0]["median"] / rates(pair)[1]["median"])
        return -0.5 * math.log(variance) - 0.5 * apart**2 / variance

    return sum(map(of_pair, found))


def held(found, deviation):
    """How often the interval of one run of a pair holds the median of the other, with this deviation added."""

    def holds(this, other):
        away = other["median"] / this["median"] - 1
        end = this["high"] if away > 0 else this["low"]
        return abs(away) <= math.hypot(end / this["median"] - 1, DEVIATIONS * deviation)

    return sum(holds(*rates(pair)) + holds(*reversed(rates(pair))) for pair in found)


def likely(found):
    return max((step / 2000 for step in range(120)), key=lambda deviation: likelihood(found, deviation))


everything = []
print(f"| bench | pairs in one state | deviation | own intervals hold the other run | with {CHOSEN:.1%} in them |")
print("|---|---|---|---|---|")
for path in sys.argv[1:]:
    found = pairs(path)
    everything += found
    name = "/".join(path.split("/")[-3:-1])
    print(f"| {name} | {len(found)} | {likely(found):.1%} | {held(found, 0)} of {2 * len(found)} | {held(found, CHOSEN)} of {2 * len(found)} |")
print(f"| all | {len(everything)} | {likely(everything):.1%} | {held(everything, 0)} of {2 * len(everything)} | {held(everything, CHOSEN)} of {2 * len(everything)} |")
