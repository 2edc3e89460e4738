#!/usr/bin/env bash
# Two builds of mpps in turns: as the machine is, and beside a program that takes a CPU of the bed for 5 ms ten times a
# second (the DUT's and the tester's in turns).
# usage: bench/evidence/run.sh OUT_FOLDER BEFORE AFTER [PAIRS]     (as root; BEFORE and AFTER are programs)
# BEFORE may be "-": AFTER alone, quiet and disturbed in turns.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
usage="usage: bench/evidence/run.sh OUT_FOLDER BEFORE AFTER [PAIRS]"
out=${1:?"$usage"}
before=${2:?"$usage"}
after=${3:?"$usage"}
pairs=${4:-4}
job=(throughput --frame 64 --quiet --json)
mkdir -p "$out"
printf '%s\n' "MPPS ${job[*]} --record FILE   ($pairs pairs, BEFORE and AFTER in turns)" > "$out/command.txt"
bench/machine.sh > "$out/machine.txt"
: > "$out/raw.jsonl"
run() { # BUILD PAIR DISTURBED
	local record="$out/$1.jsonl" begun took code=0 planted=""
	rm -f "$record"
	if [ "$3" = true ]; then
		python3 bench/evidence/disturber.py $(($2 % 2)) &
		planted=$!
	fi
	begun=$(date +%s%N)
	"${!1}" "${job[@]}" --record "$record" > /dev/null 2>&1 || code=$?
	took=$(($(date +%s%N) - begun))
	[ -z "$planted" ] || kill "$planted"
	# Without the trials: those of one run are some 200 KB.
	grep -E '"kind":"(run|result|end)"' "$record" \
		| sed "s/^{/{\"build\":\"$1\",\"pair\":$2,\"disturbed\":$3,/" >> "$out/raw.jsonl"
	echo "{\"build\":\"$1\",\"pair\":$2,\"disturbed\":$3,\"kind\":\"whole\",\"took_ns\":$took,\"exit_code\":$code}" >> "$out/raw.jsonl"
	rm -f "$record"
}
for pair in $(seq 1 "$pairs"); do
	for disturbed in false true; do
		order=(before after)
		[ $((pair % 2)) = 1 ] || order=(after before)
		[ "$before" != - ] || order=(after)
		for build in "${order[@]}"; do run "$build" "$pair" "$disturbed"; done
	done
done
python3 bench/evidence/summarise.py "$out/raw.jsonl" | tee "$out/summary.md"
