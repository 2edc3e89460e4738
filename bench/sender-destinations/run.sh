#!/usr/bin/env bash
# What many destinations cost the sender: alone on one veth, 1, 1 M and 4 M of them, in turns. The far end drops in
# XDP; frames are counted there by the kernel. Windows that the machine disturbed are void by the rules of trials,
# stay in the raw data, and are run again.
# usage: bench/sender-destinations/run.sh OUT_FOLDER [ROUNDS] [SECONDS]   (as root, with a Rust toolchain)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:?"usage: bench/sender-destinations/run.sh OUT_FOLDER [ROUNDS] [SECONDS]"}
rounds=${2:-5}
seconds=${3:-2}
cpu=1
bed=benchdest
tries=20
fail() {
	echo "bench/sender-destinations: $*" >&2
	exit 1
}
[ "$(id -u)" = 0 ] || fail "needs root (namespaces, eBPF): run it with sudo"
[ "$(nproc)" -ge 2 ] || fail "needs two CPUs: one sends, one looks on"
cargo build --release --quiet -p mpps-cli
cargo build --release --quiet -p mpps-lab --examples
mkdir -p "$out"
alone=target/release/examples/sender_alone
sender=
stop_sender() {
	[ -n "$sender" ] || return 0
	kill -TERM "$sender" 2> /dev/null || true
	wait "$sender" 2> /dev/null || true
	sender=
}
clean() {
	stop_sender
	exec 9>&- 2> /dev/null || true
	kill -KILL "${sink:-}" 2> /dev/null || true
	wait "${sink:-}" 2> /dev/null || true
	target/release/mpps bed down "$bed" > /dev/null 2>&1 || true
	rm -f "$out/sink.fifo" "$out/sink.txt"
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
target/release/mpps bed up "$bed" > /dev/null
mkfifo "$out/sink.fifo"
"$alone" sink "$bed" < "$out/sink.fifo" > "$out/sink.txt" &
sink=$!
exec 9> "$out/sink.fifo"
until grep -q ready "$out/sink.txt"; do
	kill -0 "$sink" 2> /dev/null || fail "the sink ended early"
done
echo "taskset -c 0 $alone send $bed $cpu $((seconds + 3)) DESTINATIONS" > "$out/command.txt"
{ uname -srvm; grep -m1 'model name' /proc/cpuinfo; echo "CPUs: $(nproc)"; } > "$out/machine.txt"
: > "$out/raw.jsonl"
received() { ip netns exec "mpps-$bed-dut" cat /sys/class/net/mB/statistics/rx_packets; }
window() {
	local count=$1 first row
	first=$(received)
	taskset -c 0 "$alone" send "$bed" "$cpu" $((seconds + 3)) "$count" > "$out/$count.log" 2>&1 < /dev/null &
	sender=$!
	SECONDS=0
	until [ $(($(received) - first)) -gt 100000 ]; do
		kill -0 "$sender" 2> /dev/null || fail "the sender ended before it sent 100000 frames: see $out/$count.log"
		[ $SECONDS -lt 30 ] || fail "the sender sent nothing worth the name in 30 s: see $out/$count.log"
	done
	row=$(taskset -c 0 "$alone" window "$bed" "$cpu" "$seconds" "$sender") || fail "the window failed"
	kill -0 "$sender" 2> /dev/null || fail "the sender ended within its window: see $out/$count.log"
	stop_sender
	row="{\"destinations\":$count,\"round\":$round,${row#\{}"
	echo "$row" | tee -a "$out/raw.jsonl"
	[[ $row == *'"void":null'* ]]
}
measure() {
	local try
	for try in $(seq "$tries"); do
		if window "$1"; then
			rm -f "$out/$1.log"
			return
		fi
	done
	fail "$try windows in a row were disturbed: run it when the machine is quieter"
}
for round in $(seq 1 "$rounds"); do
	for count in 1 1000000 4000000; do
		measure "$count"
	done
done
python3 bench/sender-destinations/summarise.py "$out/raw.jsonl" | tee "$out/summary.md"
