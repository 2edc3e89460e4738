#!/usr/bin/env bash
# A profile of `mpps explain` beside one that perf records of the same CPU at the same time.
# usage: bench/explain/perf.sh OUT_FOLDER [DUT_CPU] [FLAG_OF_EXPLAIN ...]     (as root; needs linux-perf)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:?"usage: bench/explain/perf.sh OUT_FOLDER [DUT_CPU] [FLAG_OF_EXPLAIN ...]"}
cpu=${2:-1}
shift $(($# < 2 ? $# : 2))
command=(target/release/mpps explain --frame 64 --trials 12 --dut-cpus "$cpu" --json "$@")
# A period that no other of the machine's is a multiple of; the same clock as explain's.
sampler=(perf record --quiet -C "$cpu" -e cpu-clock -c 637003 -g -k CLOCK_MONOTONIC -m 2048 -o "$out/perf.data")
mkdir -p "$out"
printf '%s\n' "${sampler[*]}" "${command[*]}" > "$out/command.txt"
bench/machine.sh > "$out/machine.txt"
rm -f "$out/record.jsonl"
"${sampler[@]}" & perf=$!
trap 'kill -INT $perf 2> /dev/null || true' EXIT
"${command[@]}" --record "$out/record.jsonl" > /dev/null
kill -INT $perf
wait $perf || true
python3 -c 'import time; print(time.time() - time.monotonic())' > "$out/boot_utc.txt"
perf script -i "$out/perf.data" -F comm,tid,time,ip,sym -G --ns 2> /dev/null \
	| grep -E '^ *(cpumap|napi|kthreadd)' > "$out/perf.txt"
python3 bench/explain/perf.py "$out" | tee "$out/summary.md"
rm -f "$out/perf.data"
gzip -9nf "$out/perf.txt"
