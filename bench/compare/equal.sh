#!/usr/bin/env bash
# `mpps compare`, as users type it, of a set-up with itself: how often it is decided, and how often called different.
# usage: bench/compare/equal.sh OUT_FOLDER [RUNS] [BUDGET] [WITHIN]     (as root)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:?"usage: bench/compare/equal.sh OUT_FOLDER [RUNS] [BUDGET] [WITHIN]"}
mpps=${MPPS:-target/release/mpps}
mkdir -p "$out"
command=("$mpps" compare --a none --b again=none --frame 64 --within "${4:-10%}" --budget "${3:-20s}" --json --quiet)
printf '%s\n' "${command[*]}   (${2:-100} runs)" > "$out/command.txt"
bench/machine.sh > "$out/machine.txt"
for run in $(seq "${2:-100}"); do
	# 4: too few pairs count.
	"${command[@]}" --record "$out/$run.jsonl" || [ $? -eq 4 ]
	rm -f "$out/$run.jsonl"
done | jq --compact-output 'select(.comparisons) | {run, machine, variants: .comparisons[0].variants}' > "$out/raw.json"
python3 bench/compare/equal.py "$out/raw.json" | tee "$out/summary.md"
