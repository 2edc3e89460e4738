#!/usr/bin/env python3
"""Medians of round trips by load and build; disturbed trials do not count, and are counted.

usage: summarise.py RAW.jsonl"""
import json
import statistics
import sys

trials = [json.loads(line) for line in open(sys.argv[1])]


def per_second(trial, frames):
    return trial[frames] / trial["duration_ns"] * 1e9


print("| offered, frames/s | build | trials | void | lossless | sent, frames/s | unsent, % | back, frames/s "
      "| lost at receiver | sender, ns/frame | receiver, ns/frame |")
print("|---|---|---|---|---|---|---|---|---|---|---|")
for load in sorted({trial["offered_fps"] for trial in trials}):
    for build in ("before", "after"):
        own = [t for t in trials if t["offered_fps"] == load and t["build"] == build]
        fair = [t for t in own if not t["verdict"].startswith("void")]
        row = [f"{load:.0f}", build, len(own), len(own) - len(fair)]
        row.append(sum(t["verdict"].startswith("lossless") for t in fair))
        if fair:
            def median(of):
                return statistics.median(of(t) for t in fair)
            row += [f"{median(lambda t: per_second(t, 'sent_frames')):.0f}",
                    f"{median(lambda t: 100 * t['unsent_frames'] / t['intended_frames']):.2f}",
                    f"{median(lambda t: per_second(t, 'received_frames')):.0f}",
                    f"{median(lambda t: t['lost_receiver_ring_frames']):.0f}",
                    f"{median(lambda t: t['sender_ns_per_frame']):.0f}",
                    f"{median(lambda t: t['receiver_ns_per_frame']):.0f}"]
        else:
            row += ["-"] * 6
        print("| " + " | ".join(map(str, row)) + " |")
