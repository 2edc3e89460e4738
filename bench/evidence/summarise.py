"""Tables of raw.jsonl: what each build found, as the machine is and disturbed, and how well it repeats."""
import json
import statistics
import sys

rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
wholes = {(row["build"], row["pair"], row["disturbed"]): row for row in rows if row["kind"] == "whole"}
found = {(row["build"], row["pair"], row["disturbed"]): row for row in rows if row["kind"] == "result"}
print("| pair | disturbed | build | max forwarding, kfps | without loss, kfps | lossless | limited by | seconds | exit code |")
print("|---|---|---|---|---|---|---|---|---|")


def kfps(value):
    return "none" if value is None else f"{value / 1e3:.0f}"


def middle(value):
    return value.get("median") if isinstance(value, dict) else value


shares = {}
for key, whole in sorted(wholes.items(), key=lambda item: (item[0][1], item[0][2], item[0][0])):
    build, pair, disturbed = key
    row = found.get(key, {})
    most, rate = middle(row.get("max_forwarding_fps")), row.get("rate_fps")
    reading = "" if row.get("rate_is") in (None, "=") else f"{row['rate_is']} "
    lossless = f"{row.get('lossless_trials')} of {row.get('judged_trials')}"
    print(
        f"| {pair} | {'yes' if disturbed else 'no'} | {build} | {kfps(most)} | {reading}{kfps(rate)} | {lossless} "
        f"| {row.get('limited_by')} | {whole['took_ns'] / 1e9:.0f} | {whole['exit_code']} |"
    )
    shares.setdefault((build, disturbed), []).append(rate / most if rate and most and reading != "< " else 0.0)
print()
print("The rate without loss as a share of the maximum forwarding rate of the same run (0: no rate):")
print()
print("| build | disturbed | median | lowest | highest |")
print("|---|---|---|---|---|")
for (build, disturbed), of_runs in sorted(shares.items()):
    print(
        f"| {build} | {'yes' if disturbed else 'no'} | {statistics.median(of_runs):.2f} | {min(of_runs):.2f} "
        f"| {max(of_runs):.2f} |"
    )

# Does the disturbed run's interval hold what the quiet run of the same pair found?
DISTANCE_MOST = 1.5
WORK_MOST = 1.05


def distance(row):
    return row.get("max_forwarding_cpu_distance_ns")


def within(values, times):
    return None not in values and max(values) <= times * min(values)


print()
print("Maximum forwarding rate, kfps: is the quiet run's median within the interval of the disturbed run?")
print()
print("| build | pair | quiet | disturbed: low to high | median apart, % | CPU distances, ns | works, ns | held | like |")
print("|---|---|---|---|---|---|---|---|---|")
counts = {}
for build, pair in sorted({(row["build"], row["pair"]) for row in rows}):
    quiet, disturbed = (found.get((build, pair, which), {}) for which in (False, True))
    most = [row.get("max_forwarding_fps") for row in (quiet, disturbed)]
    if None in most:
        continue
    away = [distance(quiet), distance(disturbed)]
    works = [row.get("max_forwarding_work_ns") for row in (quiet, disturbed)]
    like = within(away, DISTANCE_MOST) and within(works, WORK_MOST)
    held = most[1]["low"] <= most[0]["median"] <= most[1]["high"]
    for kind in ("all", *(["like"] if like else [])):
        done = counts.setdefault((build, kind), [0, 0])
        done[0] += held
        done[1] += 1
    print(
        f"| {build} | {pair} | {kfps(most[0]['median'])} | {kfps(most[1]['low'])} to {kfps(most[1]['high'])} "
        f"| {100 * (most[1]['median'] / most[0]['median'] - 1):+.1f} | {away[0]} / {away[1]} "
        f"| {works[0]} / {works[1]} | {'yes' if held else 'no'} | {'yes' if like else 'no'} |"
    )
print()
for (build, kind), (held, pairs) in sorted(counts.items()):
    print(f"{build}, {kind} pairs: held in {held} of {pairs}.")
for build in sorted({key[0] for key in found}):
    most = {key[1:]: row.get("max_forwarding_fps") for key, row in found.items() if key[0] == build}
    quiet = statistics.median([one["median"] for (_, disturbed), one in most.items() if one and not disturbed])
    intervals = [one for (_, disturbed), one in most.items() if one and disturbed]
    held = sum(one["low"] <= quiet <= one["high"] for one in intervals)
    print(f"{build}: the median of all quiet runs, {kfps(quiet)}, is within {held} of {len(intervals)} disturbed runs' intervals.")
print(
    f"Like: the round trip of a cache line between the CPUs differed by at most {DISTANCE_MOST - 1:.0%}, a fixed piece of "
    f"work by at most {WORK_MOST - 1:.0%}."
)
