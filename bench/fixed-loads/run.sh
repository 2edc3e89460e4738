#!/usr/bin/env bash
# What does the router forward at fixed loads, and what does a frame cost there, before and after a change? Two builds in
# turns: before, after, after, before.
# usage: bench/fixed-loads/run.sh OUT_FOLDER BEFORE AFTER [PAIRS] [LOADS]     (as root; BEFORE and AFTER are programs)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
usage="usage: bench/fixed-loads/run.sh OUT_FOLDER BEFORE AFTER [PAIRS] [LOADS]"
out=${1:?$usage} before=${2:?$usage} after=${3:?$usage} pairs=${4:-6} loads=${5:-400k,1M,1.4M,1.8M,2.2M,2.6M,max}
mkdir -p "$out"
echo "bench/fixed-loads/run.sh OUT_FOLDER BEFORE AFTER $pairs $loads: 'mpps trial --frame 64 --rate $loads --time 1s'" > "$out/command.txt"
bash bench/machine.sh > "$out/machine.txt"
: > "$out/raw.jsonl"
rm -f "$out"/trials.jsonl*
record=$(mktemp)
for pair in $(seq "$pairs"); do
	builds=("before:$before" "after:$after")
	[ $((pair % 2)) = 1 ] || builds=("after:$after" "before:$before")
	for build in "${builds[@]}"; do
		rm -f "$record"
		"${build#*:}" trial --frame 64 --rate "$loads" --time 1s --quiet --record "$record" > /dev/null || echo "pair $pair, ${build%%:*}: exit code $?" >&2
		jq -sc --argjson pair "$pair" --arg build "${build%%:*}" \
			'{pair: $pair, build: $build, loads: map(select(.kind == "load") | del(.schema, .kind, .run))}' "$record" >> "$out/raw.jsonl"
		cat "$record" >> "$out/trials.jsonl"
	done
done
rm -f "$record"
xz -9 "$out/trials.jsonl"
python3 bench/fixed-loads/summarise.py "$out/raw.jsonl" | tee "$out/summary.md"
