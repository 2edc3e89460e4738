"""Pairs of NDR results out of records: how far apart were two runs of the same thing?"""
import json
import statistics
import sys


# Of a CPU, in any trial: what the target of 4 pairs in 5 within 5 % presumes.
STEAL_MOST = 0.005


def main(path):
    runs = []
    for line in open(path, encoding="utf-8"):
        entry = json.loads(line)
        if entry["kind"] == "run":
            runs.append({"result": None, "steal": 0.0})
        elif entry["kind"] == "trial":
            runs[-1]["steal"] = max(runs[-1]["steal"], steal_share(entry))
        elif entry["kind"] == "result":
            runs[-1]["result"] = entry
    print(
        "| pair | first, frames/s | second, frames/s | apart, % | limited by | DUT busy, % | DUT's CPU time a frame, ns "
        "| voided | most steal in a trial, % |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    spreads = []
    for number in range(0, len(runs) - 1, 2):
        first, second = runs[number], runs[number + 1]
        rates = [rate(run) for run in (first, second)]
        apart = None
        if all(rates):
            apart = abs(rates[0] - rates[1]) / statistics.mean(rates) * 100
            spreads.append(apart)
        print(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |".format(
                number // 2 + 1,
                *(f"{r:.0f}" if r else "could not measure" for r in rates),
                f"{apart:.1f}" if apart is not None else "-",
                "/".join(str((run["result"] or {}).get("limited_by")) for run in (first, second)),
                "/".join(percent((run["result"] or {}).get("dut_busy_share")) for run in (first, second)),
                "/".join(whole((run["result"] or {}).get("dut_busy_ns_per_frame")) for run in (first, second)),
                "/".join(str((run["result"] or {}).get("voided_trials")) for run in (first, second)),
                steal(max(first["steal"], second["steal"])),
            )
        )
    within = sum(1 for apart in spreads if apart <= 5)
    print(f"\nWithin 5 %: {within} of {len(runs) // 2} pairs.")
    print(f"(!) above {STEAL_MOST:.1%} of a CPU: more than the target allows. The host counts steal in steps of 10 ms.")


def rate(run):
    return run["result"] and run["result"].get("rate_fps")


def steal(share):
    return f"{share * 100:.1f}" + (" (!)" if share > STEAL_MOST else "")


def whole(number):
    return "-" if number is None else f"{number:.0f}"


def percent(share):
    return "-" if share is None else f"{share * 100:.0f}"


def steal_share(trial):
    # A tick of 10 ms would be most of a trial that was cut short: what was asked for counts, as in a verdict.
    duration = trial.get("cut_short_from_ns") or trial["duration_ns"] or 1
    return max((cpu["steal_ns"] / duration for cpu in trial["steal"]), default=0.0)


main(sys.argv[1])
