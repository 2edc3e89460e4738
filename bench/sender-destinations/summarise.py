"""Rates by number of destinations, and their share of the rate to one, round by round; void windows are left out."""
import json
import statistics
import sys

rates, void = {}, {}
for line in open(sys.argv[1], encoding="utf-8"):
    entry = json.loads(line)
    count, rate = entry["destinations"], entry["received_frames"] / entry["window_ns"] * 1e9
    if entry["void"] is not None:
        void[count] = void.get(count, 0) + 1
        continue
    rates.setdefault(count, {})[entry["round"]] = rate
print("| destinations | median, Mfps | lowest | highest | share of the rate to one, median of rounds (range) | void windows |")
print("|---|---|---|---|---|---|")
for count, by_round in rates.items():
    values = by_round.values()
    shares = [rate / rates[1][number] for number, rate in by_round.items()]
    cells = [f"{statistics.median(values) / 1e6:.2f}", f"{min(values) / 1e6:.2f}", f"{max(values) / 1e6:.2f}"]
    share = f"{statistics.median(shares):.2f} ({min(shares):.2f} to {max(shares):.2f})"
    print(f"| {count} | {' | '.join(cells)} | {share} | {void.get(count, 0)} |")
