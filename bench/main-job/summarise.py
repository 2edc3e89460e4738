#!/usr/bin/env python3
"""Time, rate and ceiling of each run, pair by pair, and the ratios of the medians.

usage: summarise.py RAW.jsonl"""
import json
import statistics
import sys

lines = [json.loads(line) for line in open(sys.argv[1])]
builds = [build for build in ("before", "after") if any(x["build"] == build for x in lines)]
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
compared = ["after / before"] if len(builds) == 2 else []
columns = ["", *builds, *compared]
print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))


def row(what, seen, scale, digits):
    if all(seen.values()):
        medians = [statistics.median(seen[build]) for build in builds]
        cells = [f"{median / scale:.{digits}f}" for median in medians] + [f"{medians[-1] / medians[0]:.2f}" for _ in compared]
        print("| " + " | ".join([what, *cells]) + " |")


row("s", took, 1, 0)
for frame in frames:
    for name, what in (("rate_fps", "rate"), ("tester_ceiling_fps", "ceiling")):
        row(f"{frame}: {what}, Mfps", {build: values[build, frame, name] for build in builds}, 1e6, 3)
