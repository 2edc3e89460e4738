"""Medians of all readers on each file, and the ratio of each pair."""
import json
import statistics
import sys

PEERS = {
    "libbgpdump": "libbgpdump's bare loop",
    "bgpkit-records": "bgpkit-parser, records",
    "bgpkit-routes": "bgpkit-parser, routes",
    "mrt-rs": "mrt-rs, records",
    "bgpdump": "bgpdump -m",
}


# Others that take more of a CPU than this disturbed a pair on a file: all its readers are left out.
OTHERS_MOST = 0.2


def leave_out_disturbed(readers):
    """Takes disturbed pairs of one file away; how many."""
    disturbed = []
    for pair in readers["ours"]:
        entries = [by_pair[pair] for by_pair in readers.values()]
        taken = sum(entry["other_cpu_ns"] + entry["steal_ns"] for entry in entries)
        if taken / sum(entry["wall_ns"] for entry in entries) > OTHERS_MOST:
            disturbed.append(pair)
    for by_pair in readers.values():
        for pair in disturbed:
            del by_pair[pair]
    return len(disturbed)


def main(path):
    runs, memory = {}, {}
    for line in open(path, encoding="utf-8"):
        entry = json.loads(line)
        if "resident_kib_at_most" in entry:
            memory[entry["file"], entry["reader"]] = entry["resident_kib_at_most"]
        else:
            runs.setdefault(entry["file"], {}).setdefault(entry["reader"], {})[entry["pair"]] = entry
    left_out = sum(leave_out_disturbed(readers) for readers in runs.values())
    other = steal = 0
    print("| file | reader | s | CPU, s | ours is so many times as fast, median of pairs (range) | by CPU time | paths | resident, MiB |")
    print("|---|---|---|---|---|---|---|---|")
    for file, readers in runs.items():
        if not readers["ours"]:
            print(f"| {file} | every pair was disturbed | | | | | | |")
            continue
        found = {e["paths"] for by_pair in readers.values() for e in by_pair.values() if e["paths"] is not None}
        if len(found) != 1:
            sys.exit(f"{file}: readers found {sorted(found)} paths")
        for reader in ["ours", *(name for name in PEERS if name in readers)]:
            entries = readers[reader].values()
            other = max(other, *(e["other_cpu_ns"] / e["wall_ns"] for e in entries if e["wall_ns"] > 5e8), 0)
            steal = max(steal, *(e["steal_ns"] / e["wall_ns"] for e in entries if e["wall_ns"] > 5e8), 0)
            cells = [f"{statistics.median(e[what] for e in entries) / 1e9:.3g}" for what in ("wall_ns", "cpu_ns")]
            cells += [ratios(readers, reader, what) for what in ("wall_ns", "cpu_ns")]
            cells.append("not counted" if reader == "bgpdump" else str(*found))
            cells.append(f"{memory[file, reader] / 1024:.1f}" if (file, reader) in memory else "not seen")
            print(f"| {file} | {PEERS.get(reader, reader)} | {' | '.join(cells)} |")
    pairs = [len(readers["ours"]) for readers in runs.values()]
    print(
        f"\n{min(pairs)} to {max(pairs)} pairs a file, and {left_out} left out in which others took over {OTHERS_MOST:.0%} of a CPU. All readers found the same paths in a file. Ours is a whole program: it keeps "
        "the prefixes, takes out those that repeat, and skips attributes. A bare loop keeps nothing. libbgpdump and bgpkit's records "
        "parse all attributes, bgpkit's routes the AS path, and mrt-rs leaves attributes as octets."
    )
    print(f"Other programs and the kernel's threads took up to {other:.0%} of a CPU during a run, the hypervisor up to {steal:.1%}.")


def ratios(readers, reader, what):
    values = [theirs[what] / readers["ours"][pair][what] for pair, theirs in readers[reader].items()]
    return f"{statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f})"


main(sys.argv[1])
