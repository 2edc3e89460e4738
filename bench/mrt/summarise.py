"""Medians of both readers on each file, and the ratio of each pair."""
import json
import statistics
import sys

runs, memory = {}, {}
for line in open(sys.argv[1], encoding="utf-8"):
    entry = json.loads(line)
    if "resident_kib_at_most" in entry:
        memory[entry["file"], entry["reader"]] = entry["resident_kib_at_most"]
        continue
    runs.setdefault(entry["file"], {}).setdefault(entry["reader"], []).append(entry)
print("| file | ours, s | bgpdump -m, s | CPU: ours, s | CPU: bgpdump, s | ours is so many times as fast, median of pairs (range) | pairs | by CPU time | ours resident, MiB | bgpdump resident, MiB |")
print("|---|---|---|---|---|---|---|---|---|---|")


def ratios(readers, what):
    pairs = zip(readers["ours"], readers["bgpdump"], strict=True)
    values = [theirs[what] / ours[what] for ours, theirs in pairs]
    return f"{statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f})"


for file, readers in runs.items():
    def middle(reader, what, unit):
        return f"{statistics.median(entry[what] for entry in readers[reader]) / unit:.3g}"

    cells = [middle("ours", "wall_ns", 1e9), middle("bgpdump", "wall_ns", 1e9)]
    cells += [middle("ours", "cpu_ns", 1e9), middle("bgpdump", "cpu_ns", 1e9)]
    cells += [ratios(readers, "wall_ns"), str(len(readers["ours"])), ratios(readers, "cpu_ns")]
    for reader in ["ours", "bgpdump"]:
        cells.append(f"{memory[file, reader] / 1024:.1f}" if (file, reader) in memory else "not seen")
    print(f"| {file} | {' | '.join(cells)} |")
