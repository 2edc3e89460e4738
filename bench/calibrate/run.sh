#!/usr/bin/env bash
# How well the meter finds planted faults of known size: `mpps calibrate`, several times.
# usage: bench/calibrate/run.sh OUT_FOLDER [RUNS]      (as root; after `cargo build --release -p mpps-cli`)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:?"usage: bench/calibrate/run.sh OUT_FOLDER [RUNS]"}
runs=${2:-5}
mkdir -p "$out"
command=(target/release/mpps calibrate --quiet --json)
printf '%s\n' "${command[*]}" > "$out/command.txt"
bench/machine.sh > "$out/machine.txt"
: > "$out/raw.jsonl"
for run in $(seq 1 "$runs"); do
	code=0
	"${command[@]}" --record "$out/record.jsonl" > "$out/result.json" || code=$?
	python3 -c 'import json, sys
print(json.dumps({"run": int(sys.argv[1]), "exit_code": int(sys.argv[2]), "result": json.load(open(sys.argv[3]))}))' \
		"$run" "$code" "$out/result.json" >> "$out/raw.jsonl" || echo "{\"run\":$run,\"exit_code\":$code}" >> "$out/raw.jsonl"
	rm -f "$out/record.jsonl" "$out/result.json"
done
python3 bench/calibrate/summarise.py "$out/raw.jsonl" | tee "$out/summary.md"
