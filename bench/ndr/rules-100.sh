#!/bin/sh
# --dut-setup: a firewall of 100 rules none of which matches, so that every frame is held against all of them.
set -eu
{
	echo 'table inet bench {'
	echo '	chain forward {'
	echo '		type filter hook forward priority filter; policy accept;'
	i=1
	while [ "$i" -le 100 ]; do
		echo "		udp dport $((60000 + i)) drop"
		i=$((i + 1))
	done
	echo '	}'
	echo '}'
} | nft -f -
