#!/usr/bin/env bash
# Known causes: does `mpps explain --against` find each in the stage where it was planted, and of its size?
# usage: bench/explain/causes.sh OUT_FOLDER MPPS [A_A_RUNS]     (as root; MPPS is the program)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
usage="usage: bench/explain/causes.sh OUT_FOLDER MPPS [A_A_RUNS]"
out=${1:?"$usage"}
mpps=${2:?"$usage"}
runs=${3:-20}
job=(explain --frame 64 --time 0.4 --quiet)
mkdir -p "$out"
bench/machine.sh > "$out/machine.txt"
: > "$out/command.txt"
: > "$out/raw.jsonl"
one() { # PLANTED FLAG ...
	local record="$out/one.jsonl"
	rm -f "$record"
	echo "$1: MPPS ${job[*]} ${*:2} --record FILE" >> "$out/command.txt"
	"$mpps" "${job[@]}" "${@:2}" --record "$record" > /dev/null || echo "$1: exit code $?" >&2
	# Without the trials: those of one run are some MB.
	grep -E '"kind":"(run|profile|end)"' "$record" | sed "s/^{/{\"planted\":\"$1\",/" >> "$out/raw.jsonl"
	rm -f "$record"
}
for ns in 250 500 1000; do
	one "RX $ns" --trials 20 --burn $ns --against 'spin-0=--burn 0'
done
for ns in 500 1250; do
	one "RX $((ns - 250))" --trials 20 --burn $ns --against 'spin-250=--burn 250'
done
one "postrouting, rules" --trials 20 --dut-setup bench/explain/rules.sh --against none
# With one destination the reverse path takes some 12 ns, too little for a stage.
one "routing, route look-up" --trials 24 --table synthetic:500k --dut-setup bench/explain/rp_filter.sh --against none
one "prerouting and postrouting, connection tracking" --trials 20 --dut-setup bench/compare/conntrack.sh --against none
one "prerouting and postrouting, NAT" --trials 20 --dut-setup bench/compare/nat.sh --against bench/compare/conntrack.sh
for _ in $(seq 1 "$runs"); do
	one nothing --trials 12 --against none
done
python3 bench/explain/causes.py "$out/raw.jsonl" | tee "$out/summary.md"
xz -9f "$out/raw.jsonl"
