#!/usr/bin/env bash
# Does a profile below saturation predict the maximum forwarding rate?
# usage: bench/explain/model.sh OUT_FOLDER MPPS [RUNS]     (as root; MPPS is the program)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
usage="usage: bench/explain/model.sh OUT_FOLDER MPPS [RUNS]"
out=${1:?"$usage"}
mpps=${2:?"$usage"}
runs=${3:-10}
job=(explain --frame 64 --time 0.5 --quiet --json)
mkdir -p "$out"
echo "MPPS ${job[*]} --record FILE   ($runs runs)" > "$out/command.txt"
bench/machine.sh > "$out/machine.txt"
: > "$out/raw.jsonl"
for run in $(seq 1 "$runs"); do
	record="$out/$run.jsonl"
	rm -f "$record"
	"$mpps" "${job[@]}" --record "$record" > /dev/null || echo "run $run: exit code $?" >&2
	cat "$record" >> "$out/raw.jsonl"
	rm -f "$record"
done
python3 bench/explain/model.py "$out/raw.jsonl" | tee "$out/summary.md"
