#!/usr/bin/env bash
# The main job as a newcomer starts it (64, imix, 1518), by two builds of mpps in turns: what it takes and what it finds.
# usage: bench/main-job/run.sh OUT_FOLDER BEFORE AFTER [PAIRS]     (as root; BEFORE and AFTER are programs)
# BEFORE may be "-": AFTER alone. Each may have options of the job behind it: "target/release/mpps --frame 64".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
usage="usage: bench/main-job/run.sh OUT_FOLDER BEFORE AFTER [PAIRS]"
out=${1:?"$usage"}
before=${2:?"$usage"}
after=${3:?"$usage"}
pairs=${4:-4}
job=(throughput --quiet --json)
mkdir -p "$out"
builds=(before after)
turns="$pairs pairs, BEFORE and AFTER in turns"
if [ "$before" = - ]; then
	builds=(after)
	turns="$pairs runs of AFTER alone"
fi
printf '%s\n' "MPPS ${job[*]} --record FILE   ($turns)" "${@:2:2}" > "$out/command.txt"
bench/machine.sh > "$out/machine.txt"
: > "$out/raw.jsonl"
for pair in $(seq 1 "$pairs"); do
	for build in "${builds[@]}"; do
		record="$out/$build.jsonl"
		rm -f "$record"
		begun=$(date +%s%N)
		read -ra program <<< "${!build}"
		"${program[0]}" "${job[@]}" "${program[@]:1}" --record "$record" > /dev/null || echo "pair $pair, $build: exit code $?" >&2
		took=$(($(date +%s%N) - begun))
		sed "s/^{/{\"build\":\"$build\",\"pair\":$pair,/" "$record" >> "$out/raw.jsonl"
		echo "{\"build\":\"$build\",\"pair\":$pair,\"kind\":\"whole\",\"took_ns\":$took}" >> "$out/raw.jsonl"
		rm -f "$record"
	done
done
python3 bench/main-job/summarise.py "$out/raw.jsonl" | tee "$out/summary.md"
