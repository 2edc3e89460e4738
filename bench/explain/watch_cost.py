"""The router's packets/s beside a command and without it, in pairs. usage: watch_cost.py RAW_JSONL PAIRS CPU COMMAND..."""
import json
import math
import statistics
import subprocess
import sys
import time

# The command has started by then; it ends later than the time that counts.
START_S = 0.8
COUNTED_S = 2.0
LEAST_PPS = 50_000
WAIT_S = 60
# Student's t for 95 %, by pairs less one; a longer row of pairs has a smaller one.
STUDENT = {3: 3.18, 7: 2.36, 11: 2.20, 15: 2.13, 23: 2.07, 49: 2.01}


def packets(cpu):
    """Packets that the stack took on this CPU, in all namespaces."""
    for line in open("/proc/net/softnet_stat"):
        cells = [int(cell, 16) for cell in line.split()]
        if cells[12] == cpu:
            return cells[0], time.monotonic()
    sys.exit(f"no CPU {cpu}")


def rate(before, after):
    return ((after[0] - before[0]) % 2**32) / (after[1] - before[1])


def half(cpu, command, least_s):
    """Packets/s while the command looks, from its start to its end, and how long that was."""
    begun = packets(cpu)
    looking = command and subprocess.Popen(command, stdout=subprocess.DEVNULL)
    time.sleep(START_S)
    before = packets(cpu)
    time.sleep(COUNTED_S)
    after = packets(cpu)
    if looking and looking.wait() != 0:
        sys.exit(f"{command}: exit code {looking.returncode}")
    time.sleep(max(0, begun[1] + least_s - time.monotonic()))
    ended = packets(cpu)
    return {"looking_pps": rate(before, after), "whole_pps": rate(begun, ended), "whole_s": ended[1] - begun[1]}


def main():
    raw, pairs, cpu, command = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    deadline = time.monotonic() + WAIT_S
    while True:
        before = packets(cpu)
        time.sleep(0.5)
        if rate(before, packets(cpu)) > LEAST_PPS:
            break
        if time.monotonic() > deadline:
            sys.exit(f"fewer than {LEAST_PPS} packets/s on CPU {cpu}")
    half(cpu, command, 0)
    all_pairs = []
    with open(raw, "w") as file:
        for pair in range(pairs):
            both = {}
            # Both halves last as long as the command, which the pair before told.
            for looks in [(True, False), (False, True)][pair % 2]:
                least_s = all_pairs[-1][True]["whole_s"] if all_pairs else COUNTED_S + START_S
                both[looks] = half(cpu, command if looks else None, least_s)
                if both[looks]["whole_pps"] < LEAST_PPS:
                    sys.exit("the load ended before the last pair")
            all_pairs.append(both)
            print(json.dumps({"with": both[True], "without": both[False]}), file=file)
    print("| packets/s with it, of those without | mean | 95 % interval | least | most |\n|---|---|---|---|---|")
    for name, what in [("looking_pps", "while it looks"), ("whole_pps", "from its start to its end")]:
        ratios = [both[True][name] / both[False][name] for both in all_pairs]
        mean = statistics.mean(ratios)
        t = next(t for freedom, t in sorted(STUDENT.items(), reverse=True) if freedom < pairs)
        off = t * statistics.stdev(ratios) / math.sqrt(pairs)
        cells = [mean, mean - off, mean + off, min(ratios), max(ratios)]
        mean, low, high, least, most = (f"{100 * cell:.1f} %" for cell in cells)
        print(f"| {what} | {mean} | {low} to {high} | {least} | {most} |")
    print(f"\n{pairs} pairs. The median rate without it is {statistics.median(both[False]['looking_pps'] for both in all_pairs):.0f} packets/s.")


main()
