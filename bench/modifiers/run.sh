#!/usr/bin/env bash
# What the modifiers of RFC 2544 sections 11 and 12 cost a router, each against none, in turns on beds of their own.
# usage: bench/modifiers/run.sh OUT_FOLDER MPPS [BUDGET]     (as root; MPPS is the program)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
usage="usage: bench/modifiers/run.sh OUT_FOLDER MPPS [BUDGET]"
out=${1:?$usage} mpps=${2:?$usage} budget=${3:-3m}
mkdir -p "$out"
job=(compare --frame 64 --a none --b "f25=--filters 25" --c "mgmt=--management-traffic 10" --c "nets=--networks 256" --budget "$budget")
printf '%q ' MPPS "${job[@]}" --quiet --record FILE > "$out/command.txt"
bash bench/machine.sh > "$out/machine.txt"
rm -f "$out/raw.jsonl"
# A comparison that is not decided ends with another exit code, and is a result too.
"$mpps" "${job[@]}" --quiet --record "$out/raw.jsonl" > "$out/summary.md" || echo "exit code $?" >> "$out/summary.md"
sed -i "s|^record: .*|record: raw.jsonl.xz|" "$out/summary.md"
xz -f "$out/raw.jsonl"
cat "$out/summary.md"
