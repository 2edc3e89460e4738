#!/usr/bin/env bash
# Our sender alone against its peers on the same veth, interleaved: DPDK testpmd txonly over AF_XDP and over AF_PACKET,
# and trafgen.
# A window in which the machine disturbed the sender's CPU is void by the rules of trials
# (steal, stalls, other programs), stays in the raw data, and is run again.
# `af-packet` is ours with a packet socket (--port af-packet).
# usage: bench/sender/run.sh OUT_FOLDER [ROUNDS] [SECONDS] [SENDERS]   (as root, with a Rust toolchain)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:?"usage: bench/sender/run.sh OUT_FOLDER [ROUNDS] [SECONDS] [SENDERS]"}
rounds=${2:-5}
seconds=${3:-3}
senders=${4:-"ours testpmd-af-xdp testpmd-af-packet af-packet trafgen"}
cpu=1
bed=benchsender
tx=mpps-$bed-out
tries=10
bench=sender
source bench/sender/alone.sh
missing=()
[[ $senders != *testpmd* ]] || command -v dpdk-testpmd > /dev/null || missing+=(dpdk-dev)
command -v trafgen > /dev/null || missing+=(netsniff-ng)
command -v python3 > /dev/null || missing+=(python3)
command -v ip > /dev/null || missing+=(iproute2)
if [ ${#missing[@]} -gt 0 ]; then
	echo "installing ${missing[*]}"
	apt-get install -y --no-install-recommends "${missing[@]}" > /dev/null \
		|| { apt-get update > /dev/null && apt-get install -y --no-install-recommends "${missing[@]}" > /dev/null; } \
		|| fail "apt-get could not install ${missing[*]}: install them by hand"
fi
build
huge=$(cat /proc/sys/vm/nr_hugepages)
put_back() {
	echo "$huge" > /proc/sys/vm/nr_hugepages
	rm -f "$out/trafgen.cfg"
}
[[ $senders != *testpmd* ]] || echo 512 > /proc/sys/vm/nr_hugepages
raise
cat > "$out/trafgen.cfg" << 'CFG'
{
  0x02, 0x6d, 0x70, 0x70, 0x00, 0x0b, 0x02, 0x6d, 0x70, 0x70, 0x00, 0x0a, const16(0x0800),
  0x45, 0x00, const16(46), const16(0), const16(0), 0x40, 0x11, csumip(14, 33),
  198, 18, 0, 2, 198, 19, 0, 2, const16(1024), const16(1024), const16(26), const16(0), fill(0x00, 18),
}
CFG
ours=(taskset -c 0 "$alone" send "$bed" "$cpu" $((seconds + 3)))
packet=(taskset -c 0 "$alone" send-packet "$bed" "$cpu" $((seconds + 3)))
# testpmd NAME DEVICE: its command line, in the array NAME.
testpmd() {
	declare -ga "$1=(ip netns exec $tx dpdk-testpmd -l 0,$cpu --no-pci --in-memory --vdev $2 -- \
		--forward-mode=txonly --txpkts=60 --burst=64 --auto-start --stats-period=1)"
}
# Copy mode is the only one that a veth has.
testpmd testpmd_xdp "net_af_xdp0,iface=mA,start_queue=0,queue_count=1"
# Past the queueing discipline, as our packet socket.
testpmd testpmd_packet "net_af_packet0,iface=mA,qpairs=1,qdisc_bypass=1"
trafgen=(ip netns exec "$tx" taskset -c "$cpu" trafgen --dev mA --conf "$out/trafgen.cfg" --cpus 1 --num 0 --no-sock-mem)
# trafgen binds its worker to CPU 0, whatever it was started on: windows tell of the sender's CPU.
settle() {
	local pid
	[ "$1" = trafgen ] || return 0
	for pid in $(ip netns pids "$tx"); do
		[ "$(cat "/proc/$pid/comm")" != trafgen ] || taskset -pc "$cpu" "$pid" > /dev/null
	done
}
# Runs $1 with the command line of a sender behind it.
with_sender() {
	case $2 in
		ours) "$1" "$2" "${ours[@]}" ;;
		af-packet) "$1" "$2" "${packet[@]}" ;;
		testpmd-af-xdp) "$1" "$2" "${testpmd_xdp[@]}" ;;
		testpmd-af-packet) "$1" "$2" "${testpmd_packet[@]}" ;;
		trafgen) "$1" "$2" "${trafgen[@]}" ;;
		*) fail "no sender $2: ours, af-packet, testpmd-af-xdp, testpmd-af-packet, trafgen" ;;
	esac
}
told() { echo "$1: ${*:2}"; }
{
	for name in $senders; do with_sender told "$name"; done
	echo "trafgen's worker is moved to CPU $cpu: it binds itself to CPU 0"
	dpkg-query -W -f '${Package} ${Version}\n' dpdk-dev netsniff-ng 2> /dev/null || true
} | sed "s|$out|OUT|g" > "$out/command.txt"
compare() { measure "$1" "\"sender\":\"$1\",\"round\":$round" "${@:2}"; }
for round in $(seq 1 "$rounds"); do
	for name in $senders; do with_sender compare "$name"; done
done
python3 bench/sender/summarise.py "$out/raw.jsonl" | tee "$out/summary.md"
