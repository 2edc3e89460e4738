"""Runs all readers on each file, in turn, and writes a line a run: time on the wall, time of the CPU, paths found.

Then each once more, untimed, to see its memory: what wait4 tells of that begins with ours, so /proc is asked while it runs.
"""
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from quiet import machine, wait_until_quiet

QUIET_WAIT_S = 8


def run(reader, words):
    before, mine = machine(), time.process_time()
    begun = time.monotonic_ns()
    # bgpdump's text goes nowhere, so that neither a file nor a reader behind a pipe is measured.
    output = subprocess.DEVNULL if reader == "bgpdump" else subprocess.PIPE
    child = subprocess.Popen(words, stdout=output, stderr=subprocess.DEVNULL)
    text = child.stdout.read() if child.stdout else b""
    _, status, used = os.wait4(child.pid, 0)
    wall = time.monotonic_ns() - begun
    if status != 0:
        sys.exit(f"{' '.join(words)}: status {status}")
    own = used.ru_utime + used.ru_stime
    after, mine = machine(), time.process_time() - mine
    return {
        "wall_ns": wall,
        "cpu_ns": int(own * 1e9),
        "paths": paths_of(reader, text),
        "other_cpu_ns": int(max(after[0] - before[0] - own - mine, 0) * 1e9),
        "steal_ns": int((after[1] - before[1]) * 1e9),
    }


def paths_of(reader, text):
    if reader == "bgpdump":
        return None
    return json.loads(text)["paths"] if reader == "ours" else int(text)


def memory(words):
    """The most that was resident, by the last look before the end: a look a millisecond."""
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    most = 0
    while child.poll() is None:
        for line in open(f"/proc/{child.pid}/status", encoding="utf-8"):
            if line.startswith("VmHWM:"):
                most = int(line.split()[1])
        time.sleep(0.001)
    return {"resident_kib_at_most": most}


def readers_of(file):
    readers = {"ours": [mpps, "table", "read", "--json", file], "libbgpdump": [loop, file]}
    for parser in ("bgpkit-records", "bgpkit-routes", "mrt-rs"):
        readers[parser] = [peer, parser, file]
    # A whole program with its text; once a file is enough.
    if file.endswith((".gz", ".bz2")):
        readers["bgpdump"] = ["bgpdump", "-m", file]
    return readers


def say(file, reader, what):
    print(json.dumps({"file": os.path.basename(file), "reader": reader, **what}), flush=True)


mpps, loop, peer, first, pairs, *files = sys.argv[1:]
for pair in range(int(first), int(first) + int(pairs)):
    for file in files:
        readers = readers_of(file)
        wait_until_quiet(QUIET_WAIT_S)
        # Whoever goes later finds the file in memory: take turns.
        for reader in sorted(readers, reverse=pair % 2 == 1):
            say(file, reader, {"pair": pair, **run(reader, readers[reader])})
if first == "0":
    for file in files:
        for reader, words in readers_of(file).items():
            say(file, reader, memory(words))
