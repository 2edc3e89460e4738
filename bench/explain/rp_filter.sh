#!/bin/sh
# source address validation by the reverse path
for interface in /proc/sys/net/ipv4/conf/*; do
    echo 1 > "$interface/rp_filter"
done
