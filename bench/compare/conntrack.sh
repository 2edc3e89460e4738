#!/bin/sh
# --dut-setup: connection tracking; every frame of a flow is looked up.
set -eu
nft -f - <<EOF
table inet track {
	chain forward {
		type filter hook forward priority filter; policy accept;
		ct state established,related accept
		ct state new accept
	}
}
EOF
