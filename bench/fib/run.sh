#!/usr/bin/env bash
# A full table into the kernel's FIB: mpps table load, ip -batch and BIRD, interleaved on one bed. Same list, same order,
# same next hops, and one clock for all: from the start of the process until the kernel counts every route.
# usage: bench/fib/run.sh OUT_FOLDER LIST [ROUNDS] [SAMPLE]     (as root; after `cargo build --release -p mpps-cli`)
# LIST: IPv4 prefixes, one a line, plain or packed; SAMPLE: routes for the one-process-a-route way
# before: apt-get install bird2
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
command -v bird > /dev/null || { echo "bench/fib: needs BIRD: apt-get install bird2" >&2; exit 2; }
mkdir -p "$out"
tmp=$(mktemp -d)
clean() {
	"$mpps" bed down "$bed" > /dev/null 2>&1 || true
	rm -rf "$tmp"
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
"$mpps" table read "$list" -4 --list --quiet > "$tmp/list"
python3 bench/fib/order.py "$tmp/list" > "$tmp/ordered"
sed "s|.*|route add & via $gateway dev mC proto $proto|" "$tmp/ordered" > "$tmp/plain"
sed "s|.*|route add & nhid $object proto $proto|" "$tmp/ordered" > "$tmp/objects"
sed "s|.*|route add & via $gateway dev mC proto $proto|" "$tmp/list" > "$tmp/list-order"
sed "s|.*|route & via $gateway;|" "$tmp/ordered" > "$tmp/bird.routes"
# The static routes are off until BIRD runs: then it announces them in the file's order. Those that are there when its
# kernel protocol starts it takes in an order of its own. Metric 0 is what the others' routes have.
cat > "$tmp/bird.conf" << CONF
router id 198.19.0.1;
protocol device { scan time 3600; }
protocol kernel { scan time 3600; metric 0; ipv4 { import none; export all; }; }
protocol static full {
	disabled;
	ipv4;
include "$tmp/bird.routes";
}
CONF
shuf -n "$sample" --random-source="$tmp/list" "$tmp/list" > "$tmp/sample"
routes=$(wc -l < "$tmp/list")
"$mpps" bed up "$bed" > /dev/null
add_object() { ip -n "$dut" nexthop add id "$object" via "$gateway" dev mC proto "$proto"; }
cat > "$tmp/one-by-one" << SCRIPT
while read -r prefix; do ip route add "\$prefix" via $gateway dev mC proto $proto; done < $tmp/sample
SCRIPT
cat > "$tmp/bird" << SCRIPT
(until birdc -s $tmp/bird.ctl enable full 2> /dev/null | grep -q enabled; do sleep 0.01; done) &
exec bird -f -c $tmp/bird.conf -s $tmp/bird.ctl
SCRIPT
{
	echo "mpps plain:             $mpps table load LIST --bed $bed -4 --next-hops plain"
	echo "ip -batch plain:        ip -n $dut -batch FILE    (route add PREFIX via $gateway dev mC proto $proto)"
	echo "BIRD:                   bird -f in $dut, a static protocol enabled once it runs (route PREFIX via $gateway), kernel protocol"
	echo "mpps object:            $mpps table load LIST --bed $bed -4"
	echo "ip -batch object:       ip -n $dut -batch FILE    (route add PREFIX nhid $object proto $proto)"
	echo "ip -batch list's order: as plain, in the order of LIST; the others load in the order of bench/fib/order.py"
	echo "a process a route:      ip route add PREFIX via $gateway dev mC proto $proto    ($sample of them)"
	echo "LIST: $(basename "$list"), $routes prefixes"
	ip -V
	dpkg-query -W -f '${Package} ${Version}\n' bird2
} > "$out/command.txt"
bench/machine.sh > "$out/machine.txt"
touch "$out/raw.jsonl"
# trial NAME ROUTES COMMAND...: runs a loader by the clock, then clears; one line of figures. BIRD clears by itself.
trial() {
	local name=$1 asked=$2 kind=process row cleared
	shift 2
	[ "$name" != BIRD ] || kind=daemon
	row=$(python3 bench/fib/clock.py "$dut" "$asked" "$kind" "{\"loader\":\"$name\",\"round\":$round}" "$@")
	if [ "$kind" = process ]; then
		cleared=$("$mpps" table clear --bed "$bed" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["removing_ns"])')
		row="${row%\}}, \"removing_ns\": $cleared}"
	fi
	echo "$row" | tee -a "$out/raw.jsonl"
}
# Rounds are added to those that are there.
done_rounds=$(($(wc -l < "$out/raw.jsonl") / 7))
for round in $(seq $((done_rounds + 1)) $((done_rounds + rounds))); do
	trial "mpps plain" "$routes" "$mpps" table load "$tmp/list" --bed "$bed" -4 --quiet --next-hops plain
	trial "ip -batch plain" "$routes" ip -n "$dut" -batch "$tmp/plain"
	trial "BIRD" "$routes" ip netns exec "$dut" bash "$tmp/bird"
	trial "mpps object" "$routes" "$mpps" table load "$tmp/list" --bed "$bed" -4 --quiet
	add_object
	trial "ip -batch object" "$routes" ip -n "$dut" -batch "$tmp/objects"
	trial "ip -batch list's order" "$routes" ip -n "$dut" -batch "$tmp/list-order"
	trial "a process a route" "$sample" ip netns exec "$dut" bash "$tmp/one-by-one"
done
python3 bench/fib/summarise.py "$out/raw.jsonl" | tee "$out/summary.md"
