"""The one clock for all loaders: from the start of the process until the kernel counts all its routes.

usage: clock.py NAMESPACE ROUTES process|daemon FIELDS COMMAND...    (one row of JSON that begins with FIELDS, a JSON object)

The kernel counts prefixes in /proc/net/fib_triestat. That walks the whole trie, so the clock looks at half of the time
that is left by the rate so far: the last looks are some milliseconds apart. A daemon does not end by itself: it is
asked to once its routes are counted, and takes them away.
"""
import ctypes
import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from quiet import TICKS, machine, wait_until_quiet

LONGEST_S = 180
QUIET_WAIT_S = 8


def triestat(namespace):
    """The kernel's statistics of that namespace, open: the file stays with the namespace it was opened in."""
    libc = ctypes.CDLL(None, use_errno=True)
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    there = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    if libc.setns(there, 0x40000000) != 0:
        sys.exit(f"enter {namespace}: {os.strerror(ctypes.get_errno())}")
    file = os.open("/proc/thread-self/net/fib_triestat", os.O_RDONLY)
    libc.setns(home, 0x40000000)
    return file


def prefixes(file):
    """Prefixes of the table main, which comes first."""
    for line in os.pread(file, 65536, 0).decode().splitlines():
        if "Prefixes:" in line:
            return int(line.split()[1])
    sys.exit("no count of prefixes in fib_triestat")


def exited(pid):
    """Whether the child has ended; it stays to be waited for, because that tells its CPU time."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def until_counted(file, target, base, begun, ended):
    """Waits for the count; when routes were first seen, ns after `begun`, and how many; when all were; looks taken."""
    first, looks = None, 0
    while True:
        # Asked before the look: what a process did before it ended is in the count.
        over = ended()
        count, now = prefixes(file), time.monotonic_ns()
        looks += 1
        if count > base and first is None:
            first = (now - begun, count - base)
        if count >= target:
            return first, now - begun, looks
        if over or now - begun > LONGEST_S * 1e9:
            return first, None, looks
        left = 0.02
        # Between the first look that saw any and this one is the rate.
        if first and count - base > first[1]:
            left = (target - count) / (count - base - first[1]) * (now - begun - first[0]) / 1e9 / 2
        time.sleep(min(max(left, 0.003), 1))


def main(namespace, routes, kind, fields, command):
    file = triestat(namespace)
    base = prefixes(file)
    waited = wait_until_quiet(QUIET_WAIT_S)
    load, used, mine = os.getloadavg()[0], machine(), time.process_time()
    begun = time.monotonic_ns()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    first, counted, looks = until_counted(file, base + routes, base, begun, lambda: exited(child.pid))
    clearing = time.monotonic_ns()
    found = prefixes(file) - base
    if kind == "daemon":
        # What it used is told before it takes the routes away again.
        stat = open(f"/proc/{child.pid}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()
        own = (int(stat[11]) + int(stat[12])) / TICKS
        after = machine()
        mine = time.process_time() - mine
        child.send_signal(signal.SIGTERM)
        child.wait(LONGEST_S)
    else:
        _, status, rusage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        own = rusage.ru_utime + rusage.ru_stime
        after = machine()
        mine = time.process_time() - mine
    ended = time.monotonic_ns()
    row = {
        **json.loads(fields),
        "asked_routes": routes,
        "counted_routes": found,
        "first_seen_ns": first and first[0],
        "first_seen_routes": first and first[1],
        "in_kernel_ns": counted,
        "looks": looks,
        "process_ns": None if kind == "daemon" else ended - begun,
        "own_cpu_ns": round(own * 1e9),
        "clock_cpu_ns": round(mine * 1e9),
        "other_cpu_ns": round(max(after[0] - used[0] - own - mine, 0) * 1e9),
        "steal_ns": round((after[1] - used[1]) * 1e9),
        "load_before": load,
        "waited_for_quiet_s": round(waited, 1),
        "exit": child.returncode,
    }
    if kind == "daemon":
        row["removing_ns"] = ended - clearing
        row["left_routes"] = prefixes(file) - base
    print(json.dumps(row))


main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5:])
