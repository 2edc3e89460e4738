"""Runs both readers on each file, in turn, and writes a line a run: time on the wall, time of the CPU.

Then each once more, untimed, to see its memory: what wait4 tells of that begins with ours, so /proc is asked while it runs.
"""
import json
import os
import subprocess
import sys
import time


def run(words):
    begun = time.monotonic_ns()
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    wall = time.monotonic_ns() - begun
    if status != 0:
        sys.exit(f"{' '.join(words)}: status {status}")
    cpu = int((used.ru_utime + used.ru_stime) * 1e9)
    return {"wall_ns": wall, "cpu_ns": cpu}


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
    return {"ours": [mpps, "table", "read", "--json", file], "bgpdump": ["bgpdump", "-m", file]}


def say(file, reader, what):
    print(json.dumps({"file": os.path.basename(file), "reader": reader, **what}), flush=True)


mpps, pairs, *files = sys.argv[1:]
for pair in range(int(pairs)):
    for file in files:
        readers = readers_of(file)
        # Whoever goes second finds the file in memory: take turns.
        for reader in sorted(readers, reverse=pair % 2 == 1):
            say(file, reader, {"pair": pair, **run(readers[reader])})
for file in files:
    for reader, words in readers_of(file).items():
        say(file, reader, memory(words))
