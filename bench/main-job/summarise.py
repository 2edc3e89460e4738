#!/usr/bin/env python3
"""Time, rate and ceiling of each run, pair by pair, and the ratios of the medians.

usage: summarise.py RAW.jsonl"""
import json
import statistics
import sys

lines = [json.loads(line) for line in open(sys.argv[1])]
builds = ("before", "after")
pairs = sorted({x["pair"] for x in lines})
frames = list(dict.fromkeys(x["frame"] for x in lines if x["kind"] == "result"))


def of(kind, build, pair):
    return [x for x in lines if (x["kind"], x["build"], x["pair"]) == (kind, build, pair)]


def found(result):
    if result["rate_fps"] is None:
        return "could not measure"
    limit, sign = result["limited_by"], result["rate_is"] or ""
    return f"{sign} {result['rate_fps'] / 1e6:.3f} ({limit}; {result['tester_ceiling_fps'] / 1e6:.2f})".strip()


print("Rates in Mfps, with what limits them and the tester's ceiling. Time is the whole command's, bed and probe included.\n")
print("| pair | build | s | trials | " + " | ".join(frames) + " |")
print("|---|---|---|---|" + "---|" * len(frames))
took = {build: [] for build in builds}
values = {(build, frame, name): [] for build in builds for frame in frames for name in ("rate_fps", "tester_ceiling_fps")}
for pair in pairs:
    for build in builds:
        seconds = of("whole", build, pair)[0]["took_ns"] / 1e9
        took[build].append(seconds)
        results = {x["frame"]: x for x in of("result", build, pair)}
        for (b, frame, name), seen in values.items():
            if b == build and frame in results and results[frame][name] is not None:
                seen.append(results[frame][name])
        cells = [found(results[frame]) if frame in results else "none" for frame in frames]
        print(f"| {pair} | {build} | {seconds:.0f} | {len(of('trial', build, pair))} | " + " | ".join(cells) + " |")
print("\nMedians:\n")
print("| | before | after | after / before |\n|---|---|---|---|")


def row(what, before, after, scale, digits):
    if before and after:
        b, a = statistics.median(before), statistics.median(after)
        print(f"| {what} | {b / scale:.{digits}f} | {a / scale:.{digits}f} | {a / b:.2f} |")


row("s", took["before"], took["after"], 1, 0)
for frame in frames:
    for name, what in (("rate_fps", "rate"), ("tester_ceiling_fps", "ceiling")):
        row(f"{frame}: {what}, Mfps", values["before", frame, name], values["after", frame, name], 1e6, 3)
