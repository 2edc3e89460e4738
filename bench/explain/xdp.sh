#!/usr/bin/env bash
# A router whose XDP program forwards, and another without it: does a rule of `mpps explain --cpus` place each sample?
# usage: bench/explain/xdp.sh OUT_FOLDER MPPS [SECONDS]     (as root, on 2 CPUs; needs a C compiler, clang, libbpf's headers)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
usage="usage: bench/explain/xdp.sh OUT_FOLDER MPPS [SECONDS]"
out=${1:?"$usage"}
mpps=${2:?"$usage"}
seconds=${3:-10}
mkdir -p "$out"
tools=$(mktemp -d)
down() {
	for name in s r d; do ip netns del "mpps-xdp-$name" 2> /dev/null || true; done
	rm -rf "$tools"
}
trap down EXIT
cc -O1 -o "$tools/flood" bench/explain/flood.c
clang -O2 -g -target bpf -I"/usr/include/$(uname -m)-linux-gnu" -c bench/explain/redirect.bpf.c -o "$tools/redirect.o"
for name in s r d; do ip netns add "mpps-xdp-$name"; done
ip -n mpps-xdp-r link add rs type veth peer name ss netns mpps-xdp-s
ip -n mpps-xdp-r link add rd type veth peer name dd netns mpps-xdp-d
up() { ip -n "mpps-xdp-$1" addr add "$3" dev "$2" && ip -n "mpps-xdp-$1" link set "$2" up; }
up s ss 10.1.0.2/24
up r rs 10.1.0.1/24
up r rd 10.2.0.1/24
up d dd 10.2.0.2/24
ip -n mpps-xdp-s route add default via 10.1.0.1
ip -n mpps-xdp-r neigh add 10.2.0.2 dev rd lladdr "$(ip -n mpps-xdp-d -j link show dd | jq -r '.[0].address')" nud permanent
ip netns exec mpps-xdp-r sysctl -qw net.ipv4.ip_forward=1
ip -n mpps-xdp-d link set dev dd xdp obj "$tools/redirect.o" sec xdp.drop
# CPU 0 sends, CPU 1 forwards: the polls of the router's port run in a thread of their own there. A veth polls for frames of
# a port without TSO alone.
ip netns exec mpps-xdp-s ethtool -K ss tso off
ip netns exec mpps-xdp-r ethtool -K rs gro on
ip netns exec mpps-xdp-r sh -c 'echo 1 > /sys/class/net/rs/threaded'
for thread in $(pgrep '^napi/rs-'); do taskset -cp 1 "$thread" > /dev/null; done
bench/machine.sh > "$out/machine.txt"
echo "for each path: flood, and MPPS explain --cpus 1 --for $seconds --record FILE" > "$out/command.txt"
: > "$out/raw.jsonl"
one() { # PATH
	ip netns exec mpps-xdp-s "$tools/flood" 0 10.2.0.2 "$((seconds + 4))" &
	sleep 1
	ip netns exec mpps-xdp-r "$mpps" explain --cpus 1 --for "$seconds" --record "$tools/$1.jsonl" > "$out/$1.txt" || true
	wait
	sed "s/^{/{\"path\":\"$1\",/; s|$tools/||g" "$tools/$1.jsonl" >> "$out/raw.jsonl"
	sed -i "s|$tools/||g" "$out/$1.txt"
}
one kernel
ip -n mpps-xdp-r link set dev rs xdpdrv obj "$tools/redirect.o" sec xdp
one xdp
python3 bench/explain/summarise.py "$out/raw.jsonl" | tee "$out/summary.md"
