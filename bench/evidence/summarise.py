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
