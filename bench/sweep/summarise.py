"""Trials over all loads: did each ledger close, what did the tester offer, where did the DUT begin to lose?"""
import collections
import csv
import sys


def main(path):
    rows = list(csv.DictReader(open(path, encoding="utf-8")))
    by_load = collections.defaultdict(list)
    for row in rows:
        by_load[float(row["offered_fps"])].append(row)
    print("| offered, frames/s | trials | ledger closed | lossless | lossy | void | not offered | invalid | most unsent in a judged trial, % | DUT busy, % |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for load in sorted(by_load):
        some = by_load[load]
        count = collections.Counter(row["verdict"] for row in some)
        judged = [row for row in some if row["verdict"] in ("lossless", "lossy")]
        unsent = max((share(row) for row in judged), default=None)
        busy = [float(row["dut_busy_share"]) for row in judged]
        print(
            "| {:.0f} | {} | {} | {} | {} | {} | {} | {} | {} | {} |".format(
                load,
                len(some),
                sum(row["ledger"] == "closed" for row in some),
                count["lossless"],
                count["lossy"],
                count["void"],
                count["not-offered"],
                count["invalid"],
                "-" if unsent is None else f"{unsent * 100:.3f}",
                "-" if not busy else f"{sum(busy) / len(busy) * 100:.0f}",
            )
        )
    closed = sum(row["ledger"] == "closed" for row in rows)
    print(f"\nLedger closed in {closed} of {len(rows)} trials, {sum(int(r['sent_frames']) for r in rows)} frames.")
    passed = [load for load in by_load if any(r["verdict"] == "lossless" for r in by_load[load])]
    if passed:
        print(f"Highest load with a lossless trial: {max(passed):.0f} frames/s.")


def share(row):
    return int(row["unsent_frames"]) / max(int(row["intended_frames"]), 1)


main(sys.argv[1])
