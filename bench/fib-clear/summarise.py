"""Time to clear by each way, and the ratio pair by pair."""
import json
import statistics
import sys

taken, wrong = {"mpps": {}, "ip": {}}, 0
for line in open(sys.argv[1], encoding="utf-8"):
    entry = json.loads(line)
    wrong += entry["left_routes"] != 0 or entry["routes"] < 1
    routes = entry["routes"]
    taken[entry["way"]][entry["pair"]] = (entry["removing_ns"] - entry["ip_start_ns"]) / 1e9
names = {"mpps": "mpps table clear", "ip": "ip nexthop del, without the start of ip"}
print("| way | s, median | lowest | highest | ns a route |")
print("|---|---|---|---|---|")
for way, pairs in taken.items():
    values = list(pairs.values())
    median = statistics.median(values)
    print(f"| {names[way]} | {median:.3f} | {min(values):.3f} | {max(values):.3f} | {median / routes * 1e9:.0f} |")
ratios = [taken["mpps"][pair] / taken["ip"][pair] for pair in taken["mpps"] if pair in taken["ip"]]
print()
print(f"mpps / ip in {len(ratios)} pairs: {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f}); {routes} routes.")
print(f"Tables that were not there before, or not gone afterwards: {wrong}")
