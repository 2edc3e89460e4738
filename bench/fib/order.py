"""The list in the order mpps loads it (crates/lab/src/fib/order.rs): short prefixes first."""
import ipaddress
import sys


def key(prefix):
    network = ipaddress.ip_network(prefix)
    address, length = int(network.network_address), network.prefixlen
    spread = int(f"{address:032b}"[::-1], 2)
    return (0, 0, length, spread) if length <= 18 else (1, address >> 16, length, spread)


print("\n".join(sorted(open(sys.argv[1], encoding="ascii").read().split(), key=key)))
