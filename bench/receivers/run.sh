#!/usr/bin/env bash
# Do both receivers see the same router? Overload of a router slow enough for both (100 firewall rules), received at its
# exit and at the tester's port in turns: exit, port, port, exit.
# usage: bench/receivers/run.sh OUT_FOLDER [PAIRS]      (as root; after `cargo build --release -p mpps-cli`)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:?"usage: bench/receivers/run.sh OUT_FOLDER [PAIRS]"}
pairs=${2:-10}
mkdir -p "$out"
[ "$(id -u)" = 0 ] || { echo "bench/receivers: needs root" >&2; exit 2; }
# A fifth of the budget is for overload; the search that follows is not the question.
command=(target/release/mpps throughput --frame 64 --dut-setup bench/ndr/rules-100.sh --budget 24 --quiet --json)
printf '%s\n' "${command[*]} --receiver exit|port --record FILE" > "$out/command.txt"
bench/machine.sh > "$out/machine.txt"
# Pairs are added to those that are there.
touch "$out/raw.jsonl"
done_pairs=$(python3 -c 'import json, sys; print(max((json.loads(l)["pair"] for l in open(sys.argv[1])), default=0))' "$out/raw.jsonl")
for pair in $(seq $((done_pairs + 1)) $((done_pairs + pairs))); do
	order=(exit port)
	[ $((pair % 2)) = 1 ] || order=(port exit)
	for receiver in "${order[@]}"; do
		record="$out/$pair-$receiver.jsonl"
		rm -f "$record"
		load=$(cut -d ' ' -f 1 /proc/loadavg)
		"${command[@]}" --receiver "$receiver" --record "$record" > /dev/null || echo "pair $pair, $receiver: exit code $?" >&2
		# Trials of the search are left out: they tell nothing of overload.
		[ ! -e "$record" ] || grep -v -E '"phase":"(gate|search)"' "$record" | sed "s/^{/{\"pair\":$pair,\"place\":\"$receiver\",\"load_before\":$load,/" >> "$out/raw.jsonl"
		rm -f "$record"
	done
done
python3 bench/receivers/summarise.py "$out/raw.jsonl" | tee "$out/summary.md"
