#!/bin/sh
# --dut-setup: connection tracking with masquerading at the port at which the router transmits.
set -eu
nft -f - <<EOF
table ip nat {
	chain postrouting {
		type nat hook postrouting priority srcnat; policy accept;
		oifname "$MPPS_DUT_OUT" masquerade
	}
}
EOF
