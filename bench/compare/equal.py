"""How comparisons of a set-up with itself ended, from the documents of bench/compare/equal.sh."""

import json
import sys
from collections import Counter

with open(sys.argv[1]) as lines:
    differences = [json.loads(line)["variants"][1]["difference"] for line in lines]

findings = Counter()
fixed = 0
for difference in differences:
    measured = difference["rate_change"] or difference["cost_change"]
    findings[difference["finding"] if measured else "too few pairs"] += 1
    fixed += difference["fixed_cost_ns"] is not None

print(f"{len(differences)} comparisons of a set-up with itself.\n")
print("| finding | comparisons |")
print("|---|---:|")
for finding, count in findings.most_common():
    print(f"| {finding} | {count} |")
print(f"| a cost at the fixed load | {fixed} |")
zero = [
    difference["fixed_cost_ns"]
    for difference in differences
    if difference["fixed_cost_ns"] is not None
]
holds = sum(1 for interval in zero if interval["low"] <= 0 <= interval["high"])
print(f"\nThe interval at the fixed load holds 0 in {holds} of {len(zero)}.")
