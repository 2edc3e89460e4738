#!/bin/sh
# --dut-setup: an XDP program at the port at which the router receives looks routes up and redirects each frame.
# Frames then pass no egress, so the run needs --nic napi --receiver port.
set -eu
object=$(mktemp)
trap 'rm -f "$object"' EXIT
clang -O2 -g -target bpf -I"/usr/include/$(uname -m)-linux-gnu" -c "$(dirname "$0")/xdp-redirect.bpf.c" -o "$object"
ip link set dev "$MPPS_DUT_IN" xdpdrv obj "$object" sec xdp
