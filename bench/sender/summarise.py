"""Rates of each sender and their ratios, round by round."""
import json
import statistics
import sys

rates = {}
for line in open(sys.argv[1], encoding="utf-8"):
    entry = json.loads(line)
    rate = entry["received_frames"] / entry["window_ns"] * 1e9
    rates.setdefault(entry["sender"], []).append(rate)
print("| sender | median, Mfps | lowest | highest | ours is so many times as fast, median of rounds (range) |")
print("|---|---|---|---|---|")
for sender, values in rates.items():
    ratios = [ours / other for ours, other in zip(rates["ours"], values) if other > 0]
    cells = [f"{statistics.median(values) / 1e6:.2f}", f"{min(values) / 1e6:.2f}", f"{max(values) / 1e6:.2f}"]
    ratio = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})" if ratios else "-"
    print(f"| {sender} | {' | '.join(cells)} | {ratio} |")
