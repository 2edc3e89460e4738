#!/bin/sh
# 100 rules in the forward hook that no frame matches
{
    printf 'table inet t {\nchain f {\ntype filter hook forward priority 0; policy accept;\n'
    i=0
    while [ $i -lt 100 ]; do
        i=$((i + 1))
        echo "ip saddr 203.0.113.$i drop"
    done
    printf '}\n}\n'
} | nft -f -
