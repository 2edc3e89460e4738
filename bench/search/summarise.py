"""Searches out of records: what each found, in how many trials, in which time."""
import json
import statistics
import sys


def main(path):
    runs = []
    for line in open(path, encoding="utf-8"):
        entry = json.loads(line)
        if entry["kind"] == "run":
            runs.append({"search": entry["plan"]["search"], "trials": [], "result": None})
        elif entry["kind"] == "trial" and entry["phase"] == "search":
            runs[-1]["trials"].append(entry)
        elif entry["kind"] == "result":
            runs[-1]["result"] = entry
    print("| round | search | frames/s | limited by | DUT busy, % | trials | voided | s of trials |")
    print("|---|---|---|---|---|---|---|---|")
    for number, run in enumerate(runs):
        result = run["result"] or {}
        rate, busy = result.get("rate_fps"), result.get("dut_busy_share")
        print(
            "| {} | {} | {} | {} | {} | {} | {} | {:.0f} |".format(
                number // 2 + 1,
                run["search"],
                f"{rate:.0f}" if rate else "could not measure",
                result.get("limited_by"),
                "-" if busy is None else f"{busy * 100:.0f}",
                len(run["trials"]),
                sum(1 for trial in run["trials"] if trial["verdict"] == "void"),
                seconds(run),
            )
        )
    print()
    for search in ("mlr", "bisection"):
        of = [run for run in runs if run["search"] == search]
        rates = [run["result"]["rate_fps"] for run in of if run["result"] and run["result"].get("rate_fps")]
        if len(rates) > 1:
            apart = (max(rates) - min(rates)) / statistics.median(rates) * 100
            print(
                f"- {search}: median {statistics.median(rates):.0f} frames/s, highest and lowest {apart:.1f} % apart; "
                f"median {statistics.median(len(run['trials']) for run in of):.0f} trials, "
                f"{statistics.median(seconds(run) for run in of):.0f} s of trials"
            )


def seconds(run):
    return sum(trial["duration_ns"] for trial in run["trials"]) / 1e9


main(sys.argv[1])
