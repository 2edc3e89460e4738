#!/usr/bin/env bash
# What a recorded day of route changes costs a router with that day's table, at several speeds. The first variant has no
# changes, and all have the same table and the same destinations.
# usage: bench/route-changes/run.sh OUT_FOLDER MPPS TABLE CHANGES [BUDGET]     (as root; files as docs/tables.md has them)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
usage="usage: bench/route-changes/run.sh OUT_FOLDER MPPS TABLE CHANGES [BUDGET]"
out=${1:?$usage} mpps=${2:?$usage} table=${3:?$usage} changes=${4:?$usage} budget=${5:-3m}
mkdir -p "$out"
at() { echo "--route-changes $changes,speed=$1"; }
job=(compare --frame 64 --table "$table" --destinations 100k --a none --b "s100=$(at 100/s)" --c "s1000=$(at 1000/s)" --c "s10000=$(at 10000/s)" --budget "$budget")
echo "MPPS ${job[*]} --quiet --record FILE" | sed "s|$table|TABLE|g; s|$changes|CHANGES|g" > "$out/command.txt"
sha256sum "$table" "$changes" | sed 's|/.*/||' >> "$out/command.txt"
bash bench/machine.sh > "$out/machine.txt"
rm -f "$out/raw.jsonl"
"$mpps" "${job[@]}" --quiet --record "$out/raw.jsonl" > "$out/summary.md"
sed -i "s|$table|TABLE|g; s|$changes|CHANGES|g; s|^record: .*|record: raw.jsonl.xz|" "$out/summary.md" "$out/raw.jsonl"
xz -f "$out/raw.jsonl"
cat "$out/summary.md"
