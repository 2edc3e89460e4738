"""Of each path the part of the samples that no rule places, and of a frame's cost the part "other"."""
import json
import sys

print("| path | samples | ns a frame | no rule places | other | most of it in |\n|---|---|---|---|---|---|")
for line in map(json.loads, open(sys.argv[1])):
    if line["kind"] != "profile":
        continue
    if not line["loads"]:
        print(f"| {line['path']} | 0 | {line['why']} | | | |")
        continue
    load = line["loads"][0]
    other = next(stage for stage in load["stages"] if stage["part"] == "other")
    whole = load["frame_ns"]["median"]
    most = ", ".join(f"{one['function']} {one['ns']:.1f}" for one in other["top"][:3])
    print(f"| {line['path']} | {load['samples']} | {whole:.0f} | {100 * load['unclassified_share']:.2f} % "
          f"| {100 * other['ns']['median'] / whole:.2f} % | {most} |")
