#!/usr/bin/env bash
# A full table into the kernel's FIB: mpps table load against ip -batch on the same list, and against one process a
# route, interleaved on one bed; each load counted by a dump, then cleared.
# usage: bench/fib/run.sh OUT_FOLDER LIST [ROUNDS] [SAMPLE]     (as root; after `cargo build --release -p mpps-cli`)
# LIST: IPv4 prefixes, one a line, plain or packed; SAMPLE: routes for the one-process-a-route way
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
usage="usage: bench/fib/run.sh OUT_FOLDER LIST [ROUNDS] [SAMPLE]"
out=${1:?"$usage"}
list=${2:?"$usage"}
rounds=${3:-5}
sample=${4:-2000}
bed=benchfib
dut=mpps-$bed-dut
mpps=target/release/mpps
# Protocol and number as mpps has them, so that mpps table show and clear know what the others loaded.
proto=109
object=1836056576
gateway=198.19.0.2
mkdir -p "$out"
tmp=$(mktemp -d)
clean() {
	"$mpps" bed down "$bed" > /dev/null 2>&1 || true
	rm -rf "$tmp"
}
trap clean EXIT
"$mpps" table read "$list" -4 --list --quiet > "$tmp/list"
python3 bench/fib/order.py "$tmp/list" > "$tmp/ordered"
sed "s|.*|route add & via $gateway dev mC proto $proto|" "$tmp/list" > "$tmp/plain"
sed "s|.*|route add & via $gateway dev mC proto $proto|" "$tmp/ordered" > "$tmp/plain-ordered"
sed "s|.*|route add & nhid $object proto $proto|" "$tmp/list" > "$tmp/objects"
shuf -n "$sample" --random-source="$tmp/list" "$tmp/list" > "$tmp/sample"
routes=$(wc -l < "$tmp/list")
"$mpps" bed up "$bed" > /dev/null
add_object() { ip -n "$dut" nexthop add id "$object" via "$gateway" dev mC proto "$proto"; }
batch() { ip -n "$dut" -batch "$1"; }
one_by_one() { while read -r prefix; do ip route add "$prefix" via "$gateway" dev mC proto "$proto"; done < "$tmp/sample"; }
export -f one_by_one
export tmp gateway proto
{
	echo "mpps:                $mpps table load LIST --bed $bed -4"
	echo "mpps plain:          $mpps table load LIST --bed $bed -4 --next-hops plain"
	echo "ip -batch:           ip -n $dut -batch FILE    (route add PREFIX via $gateway dev mC proto $proto)"
	echo "ip -batch ordered:   the same lines in the order mpps loads them (bench/fib/order.py)"
	echo "ip -batch objects:   ip -n $dut -batch FILE    (route add PREFIX nhid $object proto $proto)"
	echo "a process a route:   ip route add PREFIX via $gateway dev mC proto $proto    ($sample of them)"
	echo "LIST: $(basename "$list"), $routes prefixes"
	ip -V
} > "$out/command.txt"
bench/machine.sh > "$out/machine.txt"
touch "$out/raw.jsonl"
# Runs a loader, counts what is there, clears it; one line of figures.
trial() {
	local name=$1 asked=$2 begun ended counted cleared
	shift 2
	begun=$(date +%s%N)
	"$@" > /dev/null
	ended=$(date +%s%N)
	counted=$("$mpps" table show --bed "$bed" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["ipv4_routes"])')
	cleared=$("$mpps" table clear --bed "$bed" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["removing_ns"])')
	echo "{\"loader\":\"$name\",\"round\":$round,\"asked_routes\":$asked,\"counted_routes\":$counted,\"wall_ns\":$((ended - begun)),\"removing_ns\":$cleared}" |
		tee -a "$out/raw.jsonl"
}
# Rounds are added to those that are there.
done_rounds=$(($(wc -l < "$out/raw.jsonl") / 6))
for round in $(seq $((done_rounds + 1)) $((done_rounds + rounds))); do
	trial "mpps" "$routes" "$mpps" table load "$tmp/list" --bed "$bed" -4 --quiet
	trial "ip -batch" "$routes" batch "$tmp/plain"
	trial "mpps plain" "$routes" "$mpps" table load "$tmp/list" --bed "$bed" -4 --quiet --next-hops plain
	trial "ip -batch ordered" "$routes" batch "$tmp/plain-ordered"
	add_object
	trial "ip -batch objects" "$routes" batch "$tmp/objects"
	trial "a process a route" "$sample" ip netns exec "$dut" bash -c one_by_one
done
python3 bench/fib/summarise.py "$out/raw.jsonl" | tee "$out/summary.md"
