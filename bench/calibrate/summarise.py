"""Tables of raw.jsonl: what `mpps calibrate` found of each planted fault, run by run."""
import json
import statistics
import sys

rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
faults = {}
for run in rows:
    for row in run.get("result", {}).get("rows", []):
        faults.setdefault((row["fault"], row["unit"]), []).append(row)
print("| planted fault | unit | planted / found, run by run | found against planted, %: median (range) | measured |")
print("|---|---|---|---|---|")
for (fault, unit), found in faults.items():
    pairs = [(row["planted"], row["found"]) for row in found if row["found"] is not None]
    apart = [100 * (seen / planted - 1) for planted, seen in pairs if planted]
    texts = ", ".join(f"{planted:.0f} / {seen:.0f}" for planted, seen in pairs)
    spread = f"{statistics.median(apart):+.1f} ({min(apart):+.1f} to {max(apart):+.1f})" if apart else "-"
    print(f"| {fault} | {unit} | {texts} | {spread} | {len(pairs)} of {len(found)} |")
print("\nNot measured: the machine was too disturbed for that row; the run says so and has exit code 2 or 4.")
