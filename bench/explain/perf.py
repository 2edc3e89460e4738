"""The functions that took the most, as mpps explain says and as perf says. usage: python3 bench/explain/perf.py FOLDER"""
import collections
import datetime
import gzip
import itertools
import json
import math
import pathlib
import re
import sys

TOP = 15
# Functions that enable interrupts: a timer's samples of code without interrupts fall here (crates/method/src/stage/shadow.rs).
ENABLES = re.compile(r"handle_softirqs|__do_softirq|_raw_(spin|read|write)_unlock_irq(restore)?|irqentry_exit|.*irq_enable")
# eBPF programs lie among the modules.
MODULES = 0xFFFFFFFFC0000000
PROGRAM = "eBPF programs"
# The trial's ends, where a load begins and stops.
EDGE_NS = 20_000_000
STEP_NS = 2_000_000


def plain(name):
    # perf reads some names at its end, when the bed's programs are gone, so programs are not told from each other.
    return PROGRAM if name.startswith("bpf_prog_") else re.sub(r"^__(pfx|cfi|pi)_|\.(isra|part|constprop|cold|llvm)\b.*", "", name)


def perf_samples(folder):
    """Time in ns, task and function of each sample; without the last line's call chain."""
    packed = folder / "perf.txt.gz"
    text = gzip.open(packed, "rt") if packed.exists() else open(folder / "perf.txt")
    for line in text:
        if read := re.match(r"\s*(.+?)\s+(\d+)\s+(\d+)\.(\d{9}):\s+([0-9a-f]+) (\S+)", line):
            is_program = read[6] == "[unknown]" and int(read[5], 16) >= MODULES
            yield int(read[3]) * 10**9 + int(read[4]), (read[1], read[2]), PROGRAM if is_program else plain(read[6])


def profile_line(record):
    lines = [json.loads(line) for line in open(record)]
    run = next(line for line in lines if line["kind"] == "run")
    profile = next(line for line in lines if line["kind"] == "profile")
    trials = [line for line in lines if line["kind"] == "trial"]
    return run, profile, trials


def main():
    folder = pathlib.Path(sys.argv[1])
    run, profile, trials = profile_line(folder / "record.jsonl")
    saturated = profile["loads"][0]
    # perf knows a kernel thread that began while it recorded by its parent's name; the router's has the most samples.
    kernel = [sample for sample in perf_samples(folder) if sample[1][0].startswith(("cpumap", "napi", "kthreadd"))]
    router = collections.Counter(task for _, task, _ in kernel).most_common(1)[0][0]
    routers = [sample for sample in kernel if sample[1] == router]
    # The record tells when it began in whole seconds: the rest is where the trials hold most of the router's samples.
    begun = datetime.datetime.fromisoformat(run["begun_utc"].replace("Z", "+00:00")).timestamp()
    first = int((begun - float((folder / "boot_utc.txt").read_text())) * 1e9)
    busy = collections.Counter(at // STEP_NS for at, _, _ in routers)
    spans = [(trial["begun_after_ns"], trial["begun_after_ns"] + trial["duration_ns"]) for trial in trials]

    slots = range(min(busy), max(busy) + 2)
    before = dict(zip(slots, itertools.accumulate((busy[slot] for slot in slots), initial=0)))

    def until(ns):
        return before[min(max(ns // STEP_NS, slots[0]), slots[-1])]

    def held(start):
        return sum(until(start + end) - until(start + begin) for begin, end in spans)

    start = max(range(first - 200_000_000, first + 1_300_000_000, STEP_NS), key=held)
    wanted = [(start + trial["begun_after_ns"] + EDGE_NS, start + trial["begun_after_ns"] + trial["duration_ns"] - EDGE_NS)
              for trial in trials if trial["trial"] in saturated["trials"]]
    perf = collections.Counter(name for at, _, name in routers if any(low <= at < high for low, high in wanted))
    ours = collections.Counter()
    for stack in profile["stacks"]:
        ours[plain(stack["frames"].split(";")[-1])] += stack["ns"]
    whole, samples, theirs = sum(ours.values()), saturated["samples"], sum(perf.values())
    both = {name: (ours[name] / whole, perf[name] / theirs) for name in ours.keys() | perf.keys()}
    most = lambda at: sorted((name for name in both if not ENABLES.fullmatch(name)), key=lambda name: -both[name][at])[:TOP]
    names = sorted({*most(0), *most(1)}, key=lambda name: -sum(both[name]))
    names += sorted((name for name in both if ENABLES.fullmatch(name)), key=lambda name: -sum(both[name]))[:4]
    # Bonferroni over the functions: all agree together in 95 % of runs where both see the same.
    z = 3.14 if len(names) > 20 else 3.02
    print(f"{len(wanted)} saturated trials, {samples} samples of mpps, {theirs} of perf\n")
    print("| function | mpps % | perf % | difference | its interval | |\n|---|---|---|---|---|---|")
    apart = 0
    for name in names:
        one, other = both[name]
        half = z * math.sqrt(one * (1 - one) / samples + other * (1 - other) / theirs)
        enables = ENABLES.fullmatch(name)
        differs = abs(one - other) > half
        apart += bool(differs and not enables)
        word = "enables interrupts" if enables else "differs" if differs else ""
        print(f"| {name} | {100 * one:.2f} | {100 * other:.2f} | {100 * (one - other):+.2f} | +-{100 * half:.2f} | {word} |")
    print(f"\n{apart} of {sum(not ENABLES.fullmatch(name) for name in names)} functions differ by more than their interval")


main()
