#!/usr/bin/env bash
# Repeatability of the NDR on a DUT-limited bed: two searches, one right after the other, make a pair.
# usage: bench/ndr/run.sh OUT_FOLDER [PAIRS]      (as root; after `cargo build --release -p mpps-cli`)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:?"usage: bench/ndr/run.sh OUT_FOLDER [PAIRS]"}
pairs=${2:-5}
mkdir -p "$out"
command=(target/release/mpps throughput --frame 64 --dut-setup bench/ndr/rules-100.sh --trials-per-load 3 --accept any --quiet --json)
printf '%s\n' "${command[*]} --record FILE" > "$out/command.txt"
bench/machine.sh > "$out/machine.txt"
: > "$out/raw.jsonl"
for pair in $(seq 1 "$pairs"); do
	for half in a b; do
		record="$out/pair$pair$half.jsonl"
		rm -f "$record"
		"${command[@]}" --record "$record" > /dev/null || echo "pair $pair$half: exit code $?" >&2
		cat "$record" >> "$out/raw.jsonl"
		rm -f "$record"
	done
done
python3 bench/ndr/summarise.py "$out/raw.jsonl" | tee "$out/summary.md"
