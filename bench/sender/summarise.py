"""Rates of each sender and their ratios, round by round; void windows are counted and left out."""
import json
import statistics
import sys

rates, void = {}, {}
for line in open(sys.argv[1], encoding="utf-8"):
    entry = json.loads(line)
    sender, rate = entry["sender"], entry["received_frames"] / entry["window_ns"] * 1e9
    if entry["void"] is not None:
        void[sender] = void.get(sender, 0) + 1
        continue
    if rate == 0:
        sys.exit(f"{sender} sent nothing in round {entry['round']}: that is no rate")
    rates.setdefault(sender, {})[entry["round"]] = rate
print("| sender | median, Mfps | lowest | highest | ours is so many times as fast, median of rounds (range) | void windows |")
print("|---|---|---|---|---|---|")
for sender, by_round in rates.items():
    values = by_round.values()
    ratios = [rates["ours"][number] / rate for number, rate in by_round.items()]
    cells = [f"{statistics.median(values) / 1e6:.2f}", f"{min(values) / 1e6:.2f}", f"{max(values) / 1e6:.2f}"]
    ratio = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    print(f"| {sender} | {' | '.join(cells)} | {ratio} | {void.get(sender, 0)} |")
