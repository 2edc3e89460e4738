#!/usr/bin/env bash
# What hard interrupts take of a CPU: a task's own work beside a flood of wake-ups (RPS), and what `mpps explain --cpus` says.
# usage: bench/explain/interrupts.sh OUT_FOLDER MPPS [ROUNDS]     (as root, on 2 CPUs; needs a C compiler)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
usage="usage: bench/explain/interrupts.sh OUT_FOLDER MPPS [ROUNDS]"
out=${1:?"$usage"}
mpps=${2:?"$usage"}
rounds=${3:-3}
mkdir -p "$out"
tools=$(mktemp -d)
down() {
	for name in s r d; do ip netns del "mpps-irq-$name" 2> /dev/null || true; done
	rm -rf "$tools"
}
trap down EXIT
cc -O1 -o "$tools/flood" bench/explain/flood.c
cc -O1 -o "$tools/spin" bench/explain/spin.c
for name in s r d; do ip netns add "mpps-irq-$name"; done
ip -n mpps-irq-r link add rs type veth peer name ss netns mpps-irq-s
ip -n mpps-irq-r link add rd type veth peer name dd netns mpps-irq-d
up() { ip -n "mpps-irq-$1" addr add "$3" dev "$2" && ip -n "mpps-irq-$1" link set "$2" up; }
up s ss 10.1.0.2/24
up r rs 10.1.0.1/24
up r rd 10.2.0.1/24
ip -n mpps-irq-s route add default via 10.1.0.1
ip netns exec mpps-irq-r sysctl -qw net.ipv4.ip_forward=1
# CPU 0 sends, CPU 1 receives. The other port stays down, so that frames are dropped early and wake-ups are many.
ip netns exec mpps-irq-r sh -c 'echo 2 > /sys/class/net/rs/queues/rx-0/rps_cpus'
bench/machine.sh > "$out/machine.txt"
echo "$rounds rounds: spin CPU 1 alone; then beside flood, and MPPS explain --cpus 1 --for 2 --record FILE" > "$out/command.txt"
: > "$out/raw.jsonl"
for round in $(seq "$rounds"); do
	alone=$("$tools/spin" 1 2)
	ip netns exec mpps-irq-s "$tools/flood" 0 10.2.0.2 5 &
	sleep 0.5
	"$tools/spin" 1 3 > "$tools/beside" &
	sleep 0.5
	record="$tools/$round.jsonl"
	ip netns exec mpps-irq-r "$mpps" explain --cpus 1 --for 2 --record "$record" > /dev/null
	wait
	line=$(jq -c 'select(.kind == "profile") | .watched | {cpu: .cpus[0], tasks: .tasks, time_ns: .time_ns}' "$record")
	echo "{\"round\": $round, \"alone\": $alone, \"beside\": $(cat "$tools/beside"), \"seen\": $line}" >> "$out/raw.jsonl"
done
python3 - "$out/raw.jsonl" << 'END' | tee "$out/summary.md"
import json
import sys
print("| round | its work beside, of that alone | by the scheduler | by task switches | by samples | hard interrupts, by samples | a second |")
print("|---|---|---|---|---|---|---|")
for line in open(sys.argv[1]):
    one = json.loads(line)
    cpu = one["seen"]["cpu"]
    percent = lambda share: "-" if share is None else f"{100 * share:.0f} %"
    spun = sum(task["cpu_share"] for task in one["seen"]["tasks"])
    print("|", " | ".join([
        str(one["round"]), percent(one["beside"]["done_per_s"] / one["alone"]["done_per_s"]), percent(one["beside"]["cpu_share"]),
        percent(cpu["ledger"]["other_task_share"]), percent(spun), percent(cpu.get("interrupt_share")),
        f"{cpu['interrupts'] * 1e9 / one['seen']['time_ns']:.0f}",
    ]), "|")
END
