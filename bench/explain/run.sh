#!/usr/bin/env bash
# Profiles of the paths that a frame can take through the router: does a rule place each sample?
# usage: bench/explain/run.sh OUT_FOLDER [TRIALS]     (as root; the eBPF program needs clang, tc and libbpf's headers)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:?"usage: bench/explain/run.sh OUT_FOLDER [TRIALS]"}
common=(target/release/mpps explain --time 1 --trials "${2:-3}" --quiet --json)
mkdir -p "$out"
bench/machine.sh > "$out/machine.txt"
: > "$out/command.txt"
: > "$out/raw.jsonl"
one() { # PATH FLAG ...
	local record="$out/$1.jsonl"
	rm -f "$record"
	echo "$1: ${common[*]} ${*:2} --record FILE" >> "$out/command.txt"
	"${common[@]}" "${@:2}" --record "$record" > /dev/null || true
	# Without the trials: those of one run are some 1.5 MB.
	grep -E '"kind":"(run|profile|end)"' "$record" | sed "s/^{/{\"path\":\"$1\",/" >> "$out/raw.jsonl"
	rm -f "$record"
}
one ipv4 --frame 64
one ipv6 --frame 78 -6
one nat --frame 64 --dut-setup bench/compare/nat.sh
one conntrack --frame 64 --dut-setup bench/compare/conntrack.sh
one filters --frame 64 --filters 25
one napi --frame 64 --nic napi
one napi6 --frame 78 -6 --nic napi
one tc-redirect --frame 64 --nic napi --dut-setup bench/explain/tc-redirect.sh
python3 bench/explain/summarise.py "$out/raw.jsonl" | tee "$out/summary.md"
