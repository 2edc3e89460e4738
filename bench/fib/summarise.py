"""Rates of each loader, ratios round by round, and the time to clear."""
import json
import statistics
import sys

rates, clearing, wrong = {}, {}, 0
for line in open(sys.argv[1], encoding="utf-8"):
    entry = json.loads(line)
    wrong += entry["asked_routes"] != entry["counted_routes"]
    rates.setdefault(entry["loader"], []).append(entry["asked_routes"] / entry["wall_ns"] * 1e9)
    clearing.setdefault(entry["loader"], []).append(entry["removing_ns"] / 1e9)
print("| loader | routes/s, median | lowest | highest | mpps is so many times as fast, median of rounds (range) | cleared in, s |")
print("|---|---|---|---|---|---|")
for loader, values in rates.items():
    ratios = [ours / other for ours, other in zip(rates["mpps"], values)]
    ratio = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    cells = [f"{of(values):.0f}" for of in (statistics.median, min, max)]
    print(f"| {loader} | {' | '.join(cells)} | {ratio} | {statistics.median(clearing[loader]):.2f} |")
print()
print("Time of the whole process: reading the list, loading, for mpps counting back too. Clearing is mpps table clear.")
print(f"Loads whose count was not what was asked: {wrong}")
