#!/bin/sh
# --dut-setup: an eBPF program where the router receives looks routes up (bpf_fib_lookup) and redirects each frame.
# At tc and not at XDP, because the bed has an XDP program of its own there.
set -eu
object=$(mktemp)
trap 'rm -f "$object"' EXIT
clang -O2 -g -target bpf -I"/usr/include/$(uname -m)-linux-gnu" -c "$(dirname "$0")/redirect.bpf.c" -o "$object"
tc qdisc add dev "$MPPS_DUT_IN" clsact
tc filter add dev "$MPPS_DUT_IN" ingress bpf direct-action obj "$object" sec tc
