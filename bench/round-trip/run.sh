#!/usr/bin/env bash
# What a round trip costs the tester, before and after a change: two builds of the example `round_trip` in turns.
# usage: bench/round-trip/run.sh OUT_FOLDER BEFORE AFTER [PAIRS] [LOADS]     (as root)
#   BEFORE, AFTER   a build and the sender's batch, such as /tmp/round_trip-old:60 target/release/examples/round_trip:60
#   LOADS           frames/s, such as "1.0e6 1.5e6"
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
usage="usage: bench/round-trip/run.sh OUT_FOLDER BEFORE AFTER [PAIRS] [LOADS]"
out=${1:?"$usage"}
before=${2:?"$usage"}
after=${3:?"$usage"}
pairs=${4:-5}
read -ra loads <<< "${5:-1.0e6 1.2e6 1.5e6}"
[ "$(id -u)" = 0 ] || {
	echo "bench/round-trip: needs root (namespaces, eBPF): run it with sudo" >&2
	exit 1
}
mkdir -p "$out"
printf '%s\n' "bench/round-trip/run.sh OUT BEFORE AFTER $pairs \"${loads[*]}\"" > "$out/command.txt"
bench/machine.sh > "$out/machine.txt"
: > "$out/raw.jsonl"
for pair in $(seq 1 "$pairs"); do
	for build in "before:$before" "after:$after"; do
		IFS=: read -r name program batch <<< "$build"
		"$program" "${batch:-60}" 3 0.5 "${loads[@]}" | sed "s/^{/{\"build\":\"$name\",\"pair\":$pair,/" >> "$out/raw.jsonl"
	done
done
python3 bench/round-trip/summarise.py "$out/raw.jsonl" | tee "$out/summary.md"
