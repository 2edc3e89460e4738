# What the benches of a sender alone on one veth share; sourced. The far end drops in XDP, the same bare program for
# all; frames are counted there by the kernel. Wants: $bench (folder's name), $out, $seconds, $cpu, $bed, $tries.
alone=target/release/examples/sender_alone
sender=
fail() {
	echo "bench/$bench: $*" >&2
	exit 1
}
[ "$(id -u)" = 0 ] || fail "needs root (namespaces, eBPF): run it with sudo"
[ "$(nproc)" -ge 2 ] || fail "needs two CPUs: one sends, one looks on"
build() {
	cargo build --release --quiet -p mpps-cli
	cargo build --release --quiet -p mpps-lab --examples
	mkdir -p "$out"
}
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
# A bench puts its senders' processes in their place here, once they send.
settle() { :; }
# What a bench changed beyond this it puts back in a function of its own.
put_back() { :; }
clean() {
	stop_sender
	exec 9>&- 2> /dev/null || true
	kill -KILL "${sink:-}" 2> /dev/null || true
	wait "${sink:-}" 2> /dev/null || true
	target/release/mpps bed down "$bed" > /dev/null 2>&1 || true
	put_back
	rm -f "$out/sink.fifo" "$out/sink.txt"
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
raise() {
	target/release/mpps bed up "$bed" > /dev/null
	mkfifo "$out/sink.fifo"
	"$alone" sink "$bed" < "$out/sink.fifo" > "$out/sink.txt" &
	sink=$!
	exec 9> "$out/sink.fifo"
	until grep -q ready "$out/sink.txt"; do
		kill -0 "$sink" 2> /dev/null || fail "the sink ended early"
	done
	bench/machine.sh > "$out/machine.txt"
	: > "$out/raw.jsonl"
}
received() { ip netns exec "mpps-$bed-dut" cat /sys/class/net/mB/statistics/rx_packets; }
# window NAME FIELDS COMMAND...: frames at the far end over a window in the middle of the command's run, as a row
# that begins with the fields; false where the machine disturbed it.
window() {
	local name=$1 fields=$2 first row
	first=$(received)
	setsid "${@:3}" > "$out/$name.log" 2>&1 < /dev/null &
	sender=$!
	# Wait until it sends; a sender that never does is an error, not a rate of zero.
	SECONDS=0
	until [ $(($(received) - first)) -gt 100000 ]; do
		kill -0 "$sender" 2> /dev/null || fail "$name ended before it sent 100000 frames: see $out/$name.log"
		[ $SECONDS -lt 30 ] || fail "$name sent nothing worth the name in 30 s: see $out/$name.log"
	done
	settle "$name"
	row=$(taskset -c 0 "$alone" window "$bed" "$cpu" "$seconds" "$sender") || fail "the window over $name failed"
	kill -0 "$sender" 2> /dev/null || fail "$name ended within its window: see $out/$name.log"
	stop_sender
	row="{$fields,${row#\{}"
	echo "$row" | tee -a "$out/raw.jsonl"
	[[ $row == *'"void":null'* ]]
}
# As `window`, until one is not void.
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
