"""How far the maximum forwarding rate lies from the one predicted.

usage: python3 bench/explain/model.py RAW_JSONL"""
import json
import sys

print("| run | predicted, kfps | measured, kfps | error | trials fitted | terms not told apart |")
print("|---|---|---|---|---|---|")
runs = within = 0
for line in open(sys.argv[1], encoding="utf-8"):
    profile = json.loads(line)
    if profile["kind"] != "profile":
        continue
    runs += 1
    model = profile["model"]
    if model is None:
        print(f"| {runs} | none | | | | {profile['no_model']} |")
        continue
    within += abs(model["error_ratio"]) <= 0.1
    mixed = ", ".join(model["mixed"]) or "none"
    print(
        f"| {runs} | {model['predicted_fps'] / 1e3:.0f} | {model['measured_fps'] / 1e3:.0f} "
        f"| {model['error_ratio'] * 100:+.1f} % | {model['loads']} | {mixed} |"
    )
print(f"\n{within} of {runs} runs predict the measured rate within 10 %.")
