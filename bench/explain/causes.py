#!/usr/bin/env python3
"""What causes.sh planted, and in which stages and causes `mpps explain` saw a change: a table in Markdown."""

import json
import sys


def span(part):
    ns = part["ns"]
    return f'{ns["median"]:+.0f} ({ns["low"]:.0f} to {ns["high"]:.0f})'


def rate(against, change):
    """The change of the rate that the pairs' costs predict, in %, and the one measured."""
    before, ns, measured = against["load"]["frame_ns"]["median"], change["router"]["ns"], against["rate_change"]
    if not measured:
        return ""
    predicted = {"median": ns["median"], "low": ns["high"], "high": ns["low"]}
    predicted = {end: before / (before + more) - 1 for end, more in predicted.items()}
    ends = [{end: 100 * of[end] for end in predicted} for of in (predicted, measured)]
    return " / ".join(f'{of["median"]:+.1f} ({of["low"]:.1f} to {of["high"]:.1f})' for of in ends)


def seen(parts):
    found = [f'{part["part"]} {span(part)}' for part in parts if part["seen"]]
    return ", ".join(found) or "none"


def row(line, planted):
    against = line.get("against") or {}
    change = against.get("change")
    if not change:
        return f"| {planted} | {against.get('why') or line.get('why') or 'no pair counts'} | | | | | |"
    spun = [side.get("burnt_measured_ns") for side in (line, against)]
    # A program that is told to spin 0 ns has no measured spin.
    spun = f"{spun[0] - (spun[1] or 0):.1f}" if spun[0] else ""
    others = [part for part in change["stages"] if not part["seen"]]
    most = max((abs(part["ns"]["median"]) for part in others), default=0)
    cells = [planted, spun, seen(change["stages"]), seen(change["causes"]), f"{most:.0f}", span(change["router"]), rate(against, change)]
    return "| " + " | ".join(cells) + " |"


lines = [json.loads(line) for line in open(sys.argv[1])]
profiles = [line for line in lines if line["kind"] == "profile"]
print("| planted | spun more, ns | stages seen to change, ns a frame | causes | other stages within, ns | the router, ns | rate, %: predicted / measured |")
print("|---|---|---|---|---|---|---|")
for line in profiles:
    if line["planted"] != "nothing":
        print(row(line, line["planted"]))
same = [(line.get("against") or {}).get("change") for line in profiles if line["planted"] == "nothing"]
told = [change for change in same if change]
parts = [part for change in told for part in change["stages"] + change["causes"]]
wrong = [part for part in parts if part["seen"]]
router = sum(change["router"]["seen"] for change in told)
print(f"\n{len(told)} of {len(same)} comparisons of a set-up with itself had pairs enough. {len(wrong)} of {len(parts)} parts,")
print(f"and {router} of {len(told)} changes of the router's whole time, were called seen.\n")
for part in wrong:
    print(f"- {part['part']} {span(part)}")
