#!/usr/bin/env bash
# Our sender alone against its peers on the same veth, interleaved: DPDK testpmd txonly over AF_XDP, and trafgen.
# The far end drops in XDP; frames are counted there by the kernel (the veth's receive statistics).
# usage: bench/sender/run.sh OUT_FOLDER [ROUNDS] [SECONDS]   (as root)
# before: apt-get install dpdk-dev netsniff-ng; cargo build --release -p mpps-cli; cargo build --release -p mpps-lab --examples
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:?"usage: bench/sender/run.sh OUT_FOLDER [ROUNDS] [SECONDS]"}
rounds=${2:-5}
seconds=${3:-3}
cpu=1
bed=benchsender
dut=mpps-$bed-dut
tx=mpps-$bed-out
mkdir -p "$out"
alone=target/release/examples/sender_alone
huge=$(cat /proc/sys/vm/nr_hugepages)
clean() {
	exec 9>&- 2> /dev/null || true
	kill -KILL "${sink:-}" 2> /dev/null || true
	target/release/mpps bed down "$bed" > /dev/null 2>&1 || true
	echo "$huge" > /proc/sys/vm/nr_hugepages
	rm -f "$out/trafgen.cfg" "$out/sink.fifo"
}
trap clean EXIT
echo 512 > /proc/sys/vm/nr_hugepages
target/release/mpps bed up "$bed" > /dev/null
mkfifo "$out/sink.fifo"
"$alone" sink "$bed" < "$out/sink.fifo" > "$out/sink.txt" &
sink=$!
exec 9> "$out/sink.fifo"
until grep -q ready "$out/sink.txt"; do :; done
rm -f "$out/sink.txt"
cat > "$out/trafgen.cfg" << 'CFG'
{
  0x02, 0x6d, 0x70, 0x70, 0x00, 0x0b, 0x02, 0x6d, 0x70, 0x70, 0x00, 0x0a, const16(0x0800),
  0x45, 0x00, const16(46), const16(0), const16(0), 0x40, 0x11, csumip(14, 33),
  198, 18, 0, 2, 198, 19, 0, 2, const16(1024), const16(1024), const16(26), const16(0), fill(0x00, 18),
}
CFG
ours=(taskset -c 0 "$alone" send "$bed" "$cpu" "$seconds")
testpmd=(ip netns exec "$tx" dpdk-testpmd -l "0,$cpu" --no-pci --in-memory
	--vdev "net_af_xdp0,iface=mA,start_queue=0,queue_count=1" --
	--forward-mode=txonly --txpkts=60 --burst=64 --auto-start --stats-period=1)
trafgen=(ip netns exec "$tx" taskset -c "$cpu" trafgen --dev mA --conf "$out/trafgen.cfg" --cpus 1 --num 0 --no-sock-mem)
{
	echo "ours:    ${ours[*]}"
	echo "testpmd: ${testpmd[*]}"
	echo "trafgen: ${trafgen[*]}"
	dpkg-query -W -f '${Package} ${Version}\n' dpdk dpdk-dev netsniff-ng
} | sed "s|$out|OUT|g" > "$out/command.txt"
{ uname -srvm; grep -m1 'model name' /proc/cpuinfo; echo "CPUs: $(nproc)"; } > "$out/machine.txt"
: > "$out/raw.jsonl"
received() { ip netns exec "$dut" cat /sys/class/net/mB/statistics/rx_packets; }
# Frames at the far end over a window in the middle of a sender's run.
window() {
	local name=$1 before after begun ended
	shift
	"$@" > "$out/log.txt" 2>&1 < /dev/null &
	local pid=$!
	local first
	first=$(received)
	# Wait until it sends; give up after 20 s.
	SECONDS=0
	until [ $(($(received) - first)) -gt 100000 ] || [ $SECONDS -gt 20 ]; do :; done
	before=$(received) begun=$(date +%s%N)
	timeout "$seconds" tail --pid="$pid" -f /dev/null || true
	after=$(received) ended=$(date +%s%N)
	# Background jobs of a script ignore SIGINT.
	kill -TERM "$pid" 2> /dev/null || true
	sleep 0.5
	kill -KILL "$pid" 2> /dev/null || true
	wait "$pid" 2> /dev/null || true
	echo "{\"sender\":\"$name\",\"round\":$round,\"received_frames\":$((after - before)),\"window_ns\":$((ended - begun))}" | tee -a "$out/raw.jsonl"
}
for round in $(seq 1 "$rounds"); do
	window ours taskset -c 0 "$alone" send "$bed" "$cpu" $((seconds + 2))
	window testpmd "${testpmd[@]}"
	window trafgen "${trafgen[@]}"
done
rm -f "$out/log.txt"
python3 bench/sender/summarise.py "$out/raw.jsonl" | tee "$out/summary.md"
