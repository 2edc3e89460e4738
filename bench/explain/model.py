"""How far the maximum forwarding rate lies from the one predicted.

usage: python3 bench/explain/model.py RAW_JSONL"""
import json
import math
import sys

# Half of the interval of ln(predicted / measured).
WIDE = 0.1

print("| run | predicted, kfps | measured, kfps | error | its interval, % | trusted | trials fitted | a frame, a wake-up, a poll, ns |")
print("|---|---|---|---|---|---|---|---|")
runs = within = trusted = trusted_within = 0
for line in open(sys.argv[1], encoding="utf-8"):
    profile = json.loads(line)
    if profile["kind"] != "profile":
        continue
    runs += 1
    model = profile["model"]
    if model is None:
        print(f"| {runs} | none | | | | | | {profile['no_model']} |")
        continue
    near = abs(model["error_ratio"]) <= 0.1
    within += near
    # Records before method version 29 have no interval. An error that is measured tells nothing of trust beforehand.
    span = model.get("error_range")
    sure = span is not None and math.log((1 + span["high"]) / (1 + span["low"])) / 2 <= WIDE
    trusted += sure
    trusted_within += sure and near
    told = f"{span['low'] * 100:+.0f} to {span['high'] * 100:+.0f}" if span else ""
    names = {"frame": "frame_ns", "wake-up": "wake_up_ns", "poll": "poll_ns"}
    # Older records have no ranges, and name the terms that loads cannot tell from the others.
    ranges = model.get("term_ranges_ns")
    terms = [f"{model[at]:.0f}" if name not in model.get("mixed", []) else "-" for name, at in names.items()]
    if ranges:
        terms = [f"{one['median']:.0f} ({one['low']:.0f} to {one['high']:.0f})" for one in ranges]
    terms = ", ".join(terms)
    print(
        f"| {runs} | {model['predicted_fps'] / 1e3:.0f} | {model['measured_fps'] / 1e3:.0f} "
        f"| {model['error_ratio'] * 100:+.1f} % | {told} | {'yes' if sure else 'no'} | {model['loads']} | {terms} |"
    )
print(f"\n{within} of {runs} runs predict the measured rate within 10 %.")
print(f"{trusted} runs trust their prediction by its interval, and {trusted_within} of them are within 10 %.")
