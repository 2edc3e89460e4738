#!/usr/bin/env bash
# What firewall rules, connection tracking, NAT and a full table cost a frame: each against a router without any.
# usage: bench/compare/costs.sh OUT_FOLDER [BUDGET]     (as root)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:?"usage: bench/compare/costs.sh OUT_FOLDER [BUDGET]"}
mpps=${MPPS:-target/release/mpps}
mkdir -p "$out"
"$mpps" table synthesize --ipv4 1M > target/table-1M.txt
set_ups=("$mpps" compare --a none --b bench/ndr/rules-100.sh --c bench/compare/conntrack.sh --c bench/compare/nat.sh)
table=("$mpps" compare --a none --b 'table-1M=--table target/table-1M.txt')
for command in set_ups table; do
	declare -n words=$command
	words+=(--budget "${2:-2m}" --quiet --record "$out/costs.jsonl")
	printf '%s' mpps; printf ' %q' "${words[@]:1}"
	echo
	"${words[@]}" || [ $? -eq 4 ]
	echo
done | tee "$out/costs.txt"
bench/machine.sh > "$out/machine.txt"
