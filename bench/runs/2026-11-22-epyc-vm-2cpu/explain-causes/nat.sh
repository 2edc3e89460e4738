#!/bin/sh
# as conntrack.sh, and source NAT
nft -f - <<'R'
table inet t {
    chain f {
        type filter hook forward priority 0; policy accept;
        ct state invalid drop
    }
    chain p {
        type nat hook postrouting priority 100;
        masquerade
    }
}
R
