#!/usr/bin/env bash
# The tester's own ceiling by two builds of mpps, in turns: 64 octets, a wire in place of the router. Either may find none.
# usage: bench/ceiling/run.sh OUT_FOLDER BEFORE AFTER [PAIRS]     (as root; BEFORE and AFTER are programs)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
usage="usage: bench/ceiling/run.sh OUT_FOLDER BEFORE AFTER [PAIRS]"
out=${1:?"$usage"}
before=${2:?"$usage"}
after=${3:?"$usage"}
pairs=${4:-8}
# The search behind it is over at once: 20 kfps is all it may offer.
job=(throughput --frame 64 --max-rate 20k --quiet --json)
mkdir -p "$out"
printf '%s\n' "MPPS ${job[*]} --record FILE   ($pairs pairs, BEFORE and AFTER in turns)" > "$out/command.txt"
bench/machine.sh > "$out/machine.txt"
: > "$out/raw.jsonl"
for pair in $(seq 1 "$pairs"); do
	for build in before after; do
		record="$out/$build.jsonl"
		rm -f "$record"
		"${!build}" "${job[@]}" --record "$record" > /dev/null || echo "pair $pair, $build: exit code $?" >&2
		sed "s/^{/{\"build\":\"$build\",\"pair\":$pair,/" "$record" >> "$out/raw.jsonl"
		rm -f "$record"
	done
done
python3 bench/ceiling/summarise.py "$out/raw.jsonl" | tee "$out/summary.md"
