#!/usr/bin/env bash
# Do both receivers see the same router? Overload of a router slow enough for both (100 firewall rules), received at its
# exit and at the tester's port in turns: exit, port, port, exit.
# usage: bench/receivers/run.sh OUT_FOLDER [PAIRS]      (as root; after `cargo build --release -p mpps-cli`)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:?"usage: bench/receivers/run.sh OUT_FOLDER [PAIRS]"}
pairs=${2:-10}
mkdir -p "$out"
# A third of the budget is for overload; the search that follows is not the question.
command=(target/release/mpps throughput --frame 64 --dut-setup bench/ndr/rules-100.sh --budget 24 --quiet --json)
printf '%s\n' "${command[*]} --receiver exit|port --record FILE" > "$out/command.txt"
bench/machine.sh > "$out/machine.txt"
: > "$out/raw.jsonl"
for pair in $(seq 1 "$pairs"); do
	order=(exit port)
	[ $((pair % 2)) = 1 ] || order=(port exit)
	for receiver in "${order[@]}"; do
		record="$out/$pair-$receiver.jsonl"
		rm -f "$record"
		"${command[@]}" --receiver "$receiver" --record "$record" > /dev/null || echo "pair $pair, $receiver: exit code $?" >&2
		[ ! -e "$record" ] || sed "s/^{/{\"pair\":$pair,\"receiver\":\"$receiver\",/" "$record" >> "$out/raw.jsonl"
		rm -f "$record"
	done
done
python3 bench/receivers/summarise.py "$out/raw.jsonl" | tee "$out/summary.md"
