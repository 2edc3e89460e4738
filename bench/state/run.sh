#!/usr/bin/env bash
# How wide is the interval of the maximum forwarding rate before and after a change, and in which state was the machine?
# usage: bench/state/run.sh OUT_FOLDER BEFORE AFTER [PAIRS]     (as root; BEFORE and AFTER are programs)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
usage="usage: bench/state/run.sh OUT_FOLDER BEFORE AFTER [PAIRS]"
out=${1:?"$usage"}
before=${2:?"$usage"}
after=${3:?"$usage"}
pairs=${4:-6}
job=(throughput --frame 64 --quiet --json)
mkdir -p "$out"
printf '%s\n' "MPPS ${job[*]} --record FILE   ($pairs pairs, BEFORE and AFTER in turns)" > "$out/command.txt"
bench/machine.sh > "$out/machine.txt"
: > "$out/raw.jsonl"
for pair in $(seq 1 "$pairs"); do
	for build in before after; do
		record="$out/$build.jsonl"
		rm -f "$record"
		"${!build}" "${job[@]}" --record "$record" > /dev/null 2>&1 || echo "pair $pair, $build: exit code $?" >&2
		grep -E '"kind":"result"|"phase":"(overload|wire)"' "$record" \
			| sed "s/^{/{\"build\":\"$build\",\"pair\":$pair,/" >> "$out/raw.jsonl"
		rm -f "$record"
	done
done
python3 bench/state/summarise.py "$out/raw.jsonl" | tee "$out/summary.md"
