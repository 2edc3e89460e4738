#!/usr/bin/env bash
# What many destinations cost the sender: alone on one veth, 1, 1 M and 4 M of them, in turns. Windows that the
# machine disturbed are void by the rules of trials, stay in the raw data, and are run again.
# usage: bench/sender-destinations/run.sh OUT_FOLDER [ROUNDS] [SECONDS]   (as root, with a Rust toolchain)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:?"usage: bench/sender-destinations/run.sh OUT_FOLDER [ROUNDS] [SECONDS]"}
rounds=${2:-5}
seconds=${3:-2}
bench=sender-destinations
cpu=1
bed=benchdest
tries=20
source bench/sender/alone.sh
build
raise
send=(taskset -c 0 "$alone" send "$bed" "$cpu" $((seconds + 3)))
echo "${send[*]} DESTINATIONS" > "$out/command.txt"
for round in $(seq 1 "$rounds"); do
	for count in 1 1000000 4000000; do
		measure "$count" "\"destinations\":$count,\"round\":$round" "${send[@]}" "$count"
	done
done
python3 bench/sender-destinations/summarise.py "$out/raw.jsonl" | tee "$out/summary.md"
