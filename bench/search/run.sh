#!/usr/bin/env bash
# What a search costs and how well it repeats: the default (MLRsearch, quick) and the bisection it replaced (any of 3), in turns on a
# DUT-limited bed.
# usage: bench/search/run.sh OUT_FOLDER [ROUNDS]      (as root; after `cargo build --release -p mpps-cli`)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:?"usage: bench/search/run.sh OUT_FOLDER [ROUNDS]"}
rounds=${2:-5}
mkdir -p "$out"
command=(target/release/mpps throughput --frame 64 --dut-setup bench/ndr/rules-100.sh --quiet --json)
printf '%s\n' "${command[*]} --preset quick --record FILE" "${command[*]} --search bisection --record FILE" > "$out/command.txt"
bench/machine.sh > "$out/machine.txt"
: > "$out/raw.jsonl"
for round in $(seq 1 "$rounds"); do
	for search in '--preset quick' '--search bisection'; do
		record="$out/one.jsonl"
		rm -f "$record"
		# shellcheck disable=SC2086 # two words
		"${command[@]}" $search --record "$record" > /dev/null || echo "round $round, $search: exit code $?" >&2
		cat "$record" >> "$out/raw.jsonl"
		rm -f "$record"
	done
done
python3 bench/search/summarise.py "$out/raw.jsonl" | tee "$out/summary.md"
