#!/usr/bin/env bash
# Our sender alone against its peers on the same veth, interleaved: DPDK testpmd txonly over AF_XDP, and trafgen.
# The far end drops in XDP, the same bare program for all; frames are counted there by the kernel (the veth's
# receive statistics). A window in which the machine disturbed the sender's CPU is void by the rules of trials
# (steal, stalls, other programs), stays in the raw data, and is run again.
# `af-packet` is ours with a packet socket (--port af-packet).
# usage: bench/sender/run.sh OUT_FOLDER [ROUNDS] [SECONDS] [SENDERS]   (as root, with a Rust toolchain)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:?"usage: bench/sender/run.sh OUT_FOLDER [ROUNDS] [SECONDS] [SENDERS]"}
rounds=${2:-5}
seconds=${3:-3}
senders=${4:-"ours testpmd trafgen"}
cpu=1
bed=benchsender
tx=mpps-$bed-out
tries=10
fail() {
	echo "bench/sender: $*" >&2
	exit 1
}
[ "$(id -u)" = 0 ] || fail "needs root (namespaces, eBPF): run it with sudo"
[ "$(nproc)" -ge 2 ] || fail "needs two CPUs: one sends, one looks on"
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
cargo build --release --quiet -p mpps-cli
cargo build --release --quiet -p mpps-lab --examples
mkdir -p "$out"
alone=target/release/examples/sender_alone
huge=$(cat /proc/sys/vm/nr_hugepages)
sender=
# Each sender has a process group of its own, so that its children go with it.
stop_sender() {
	[ -n "$sender" ] || return 0
	kill -TERM -- "-$sender" 2> /dev/null || true
	# Background jobs of a script ignore SIGINT; what ignores SIGTERM too is given a second.
	timeout 1 tail --pid="$sender" -f /dev/null || true
	kill -KILL -- "-$sender" 2> /dev/null || true
	wait "$sender" 2> /dev/null || true
	sender=
}
clean() {
	stop_sender
	exec 9>&- 2> /dev/null || true
	kill -KILL "${sink:-}" 2> /dev/null || true
	wait "${sink:-}" 2> /dev/null || true
	target/release/mpps bed down "$bed" > /dev/null 2>&1 || true
	echo "$huge" > /proc/sys/vm/nr_hugepages
	rm -f "$out/trafgen.cfg" "$out/sink.fifo" "$out/sink.txt"
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
[[ $senders != *testpmd* ]] || echo 512 > /proc/sys/vm/nr_hugepages
target/release/mpps bed up "$bed" > /dev/null
mkfifo "$out/sink.fifo"
"$alone" sink "$bed" < "$out/sink.fifo" > "$out/sink.txt" &
sink=$!
exec 9> "$out/sink.fifo"
until grep -q ready "$out/sink.txt"; do
	kill -0 "$sink" 2> /dev/null || fail "the sink ended early"
done
cat > "$out/trafgen.cfg" << 'CFG'
{
  0x02, 0x6d, 0x70, 0x70, 0x00, 0x0b, 0x02, 0x6d, 0x70, 0x70, 0x00, 0x0a, const16(0x0800),
  0x45, 0x00, const16(46), const16(0), const16(0), 0x40, 0x11, csumip(14, 33),
  198, 18, 0, 2, 198, 19, 0, 2, const16(1024), const16(1024), const16(26), const16(0), fill(0x00, 18),
}
CFG
ours=(taskset -c 0 "$alone" send "$bed" "$cpu" $((seconds + 3)))
packet=(taskset -c 0 "$alone" send-packet "$bed" "$cpu" $((seconds + 3)))
testpmd=(ip netns exec "$tx" dpdk-testpmd -l "0,$cpu" --no-pci --in-memory
	--vdev "net_af_xdp0,iface=mA,start_queue=0,queue_count=1" --
	--forward-mode=txonly --txpkts=60 --burst=64 --auto-start --stats-period=1)
trafgen=(ip netns exec "$tx" taskset -c "$cpu" trafgen --dev mA --conf "$out/trafgen.cfg" --cpus 1 --num 0 --no-sock-mem)
# Runs $1 with the command line of a sender behind it.
with_sender() {
	case $2 in
		ours) "$1" "$2" "${ours[@]}" ;;
		af-packet) "$1" "$2" "${packet[@]}" ;;
		testpmd) "$1" "$2" "${testpmd[@]}" ;;
		trafgen) "$1" "$2" "${trafgen[@]}" ;;
		*) fail "no sender $2: ours, af-packet, testpmd, trafgen" ;;
	esac
}
told() { echo "$1: ${*:2}"; }
{
	for name in $senders; do with_sender told "$name"; done
	dpkg-query -W -f '${Package} ${Version}\n' dpdk dpdk-dev netsniff-ng 2> /dev/null || true
} | sed "s|$out|OUT|g" > "$out/command.txt"
{ uname -srvm; grep -m1 'model name' /proc/cpuinfo; echo "CPUs: $(nproc)"; } > "$out/machine.txt"
: > "$out/raw.jsonl"
received() { ip netns exec "mpps-$bed-dut" cat /sys/class/net/mB/statistics/rx_packets; }
# Frames at the far end over a window in the middle of a sender's run.
window() {
	local name=$1 first row
	shift
	first=$(received)
	setsid "$@" > "$out/$name.log" 2>&1 < /dev/null &
	sender=$!
	# Wait until it sends; a sender that never does is an error, not a rate of zero.
	SECONDS=0
	until [ $(($(received) - first)) -gt 100000 ]; do
		kill -0 "$sender" 2> /dev/null || fail "$name ended before it sent 100000 frames: see $out/$name.log"
		[ $SECONDS -lt 20 ] || fail "$name sent nothing worth the name in 20 s: see $out/$name.log"
	done
	row=$(taskset -c 0 "$alone" window "$bed" "$cpu" "$seconds" "$sender") || fail "the window over $name failed"
	kill -0 "$sender" 2> /dev/null || fail "$name ended within its window: see $out/$name.log"
	stop_sender
	row="{\"sender\":\"$name\",\"round\":$round,${row#\{}"
	echo "$row" | tee -a "$out/raw.jsonl"
	[[ $row == *'"void":null'* ]]
}
# Until a window is not void.
measure() {
	local try
	for try in $(seq "$tries"); do
		if window "$@"; then
			rm -f "$out/$1.log"
			return
		fi
	done
	fail "$try windows of $1 in a row were disturbed: run it when the machine is quieter"
}
for round in $(seq 1 "$rounds"); do
	for name in $senders; do with_sender measure "$name"; done
done
python3 bench/sender/summarise.py "$out/raw.jsonl" | tee "$out/summary.md"
