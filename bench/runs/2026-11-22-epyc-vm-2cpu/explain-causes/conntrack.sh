#!/bin/sh
# connection tracking, and one rule that needs it
nft -f - <<'R'
table inet t {
    chain f {
        type filter hook forward priority 0; policy accept;
        ct state invalid drop
    }
}
R
