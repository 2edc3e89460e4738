#!/usr/bin/env bash
# Sweeps of what a frame costs, one an axis: does a fit to some points predict those that it has not seen?
# usage: bench/explain/sweep.sh OUT_FOLDER MPPS [AXIS...]     (as root; MPPS is the program)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
usage="usage: bench/explain/sweep.sh OUT_FOLDER MPPS [AXIS...]"
out=${1:?"$usage"}
mpps=${2:?"$usage"}
axes=("${@:3}")
[ ${#axes[@]} != 0 ] || axes=(frame flows routes=1,1k,10k,100k,300k,500k destinations=1,100,1k,10k,100k,1M)
job=(explain --time 0.5 --trials 3 --quiet)
mkdir -p "$out"
bench/machine.sh > "$out/machine.txt"
: > "$out/command.txt"
{
	echo "Sweeps of \`mpps explain\`, one after the other. After \`unxz FILE\`, \`mpps show FILE\` prints what follows."
	for axis in "${axes[@]}"; do
		record="$out/${axis%%=*}.jsonl"
		rm -f "$record" "$record.xz"
		# Along the frame sizes there is no one size.
		size=(--frame 64)
		[ "${axis%%=*}" != frame ] || size=()
		words=("${job[@]}" "${size[@]}" --sweep "$axis")
		echo "MPPS ${words[*]} --record ${axis%%=*}.jsonl" >> "$out/command.txt"
		printf '\n```\n'
		COLUMNS=100 "$mpps" "${words[@]}" --record "$record" | grep -v '^record: ' || echo "exit code ${PIPESTATUS[0]}"
		echo '```'
		# A line of a profile has the samples' stacks: some MB.
		xz -9 "$record"
	done
} | tee "$out/summary.md"
