#!/usr/bin/env bash
# What of clearing a full table is the kernel's? mpps table clear against a bare `ip nexthop del` of the same object, in
# pairs on one bed, each in turn the first; both on a table that mpps loaded, counted before and after.
# usage: bench/fib-clear/run.sh OUT_FOLDER LIST [PAIRS]     (as root; after `cargo build --release -p mpps-cli`)
# LIST: IPv4 prefixes, one a line, plain or packed
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
usage="usage: bench/fib-clear/run.sh OUT_FOLDER LIST [PAIRS]"
out=${1:?"$usage"}
list=${2:?"$usage"}
pairs=${3:-7}
bed=benchclear
dut=mpps-$bed-dut
mpps=target/release/mpps
# mpps' first nexthop object, and one that is not there.
object=1836056576
absent=1836122111
mkdir -p "$out"
tmp=$(mktemp -d)
clean() {
	"$mpps" bed down "$bed" > /dev/null 2>&1 || true
	rm -rf "$tmp"
}
trap clean EXIT
"$mpps" table read "$list" -4 --list --quiet > "$tmp/list"
"$mpps" bed up "$bed" > /dev/null
{
	echo "bench/fib-clear/run.sh OUT_FOLDER $(basename "$list") $pairs"
	echo "load:    $mpps table load LIST --bed $bed -4"
	echo "ours:    $mpps table clear --bed $bed     (its removing_ns: all it asks of the kernel to remove; counting is not in it)"
	echo "peer:    ip -n $dut nexthop del id $object     (the whole process; ip_start_ns is the same of an object that is not there)"
	echo "LIST: $(basename "$list"), $(wc -l < "$tmp/list") prefixes"
	ip -V
} > "$out/command.txt"
bench/machine.sh > "$out/machine.txt"
field() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }
routes() { "$mpps" table show --bed "$bed" --json | field ipv4_routes; }
by_mpps() { "$mpps" table clear --bed "$bed" --json | field removing_ns; }
timed_ip() {
	local begun
	begun=$(date +%s%N)
	ip -n "$dut" nexthop del id "$1" 2> /dev/null || true
	echo $(($(date +%s%N) - begun))
}
trial() {
	local way=$1 there taken left start=0
	"$mpps" table load "$tmp/list" --bed "$bed" -4 --quiet > /dev/null
	there=$(routes)
	case $way in
	mpps) taken=$(by_mpps) ;;
	ip) taken=$(timed_ip "$object") start=$(timed_ip "$absent") ;;
	esac
	left=$(routes)
	echo "{\"way\":\"$way\",\"pair\":$pair,\"routes\":$there,\"left_routes\":$left,\"removing_ns\":$taken,\"ip_start_ns\":$start}" |
		tee -a "$out/raw.jsonl"
}
# Pairs are added to those that are there.
done_pairs=0
[ ! -e "$out/raw.jsonl" ] || done_pairs=$(($(wc -l < "$out/raw.jsonl") / 2))
for pair in $(seq $((done_pairs + 1)) $((done_pairs + pairs))); do
	if [ $((pair % 2)) = 1 ]; then order="mpps ip"; else order="ip mpps"; fi
	for way in $order; do trial "$way"; done
done
python3 bench/fib-clear/summarise.py "$out/raw.jsonl" | tee "$out/summary.md"
