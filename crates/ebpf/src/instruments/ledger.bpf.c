// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The ledger's eyes between sender and DUT: a redirect that "succeeds" only means the frame was put
 * on a list. What the port then took, and what the virtual NIC's ring took, the kernel tells in two
 * tracepoints, once for a bulk of up to 16 and 8 frames. Both are called on the tester's CPU.
 * Tracepoints are global: foreign calls are told apart by network namespace and by map id.
 */
#include "ledger.h"
#include "../net_device.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/* Namespace (inode number) and interface of the sending port, by direction. */
const volatile u32 port_netns[DIRECTIONS];
const volatile u32 port_ifindex[DIRECTIONS];

/* CPUMAP id -> direction. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 128);
	__type(key, u32);
	__type(value, u32);
} rings SEC(".maps");

SEC("tp_btf/xdp_devmap_xmit")
int BPF_PROG(port_transmits, const struct net_device *from, const struct net_device *to, int sent, int drops, int err)
{
	u32 netns = to->nd_net.net->ns.inum, ifindex = to->ifindex, way;

	for (way = 0; way < DIRECTIONS; way++) {
		if (netns == port_netns[way] && ifindex == port_ifindex[way]) {
			u32 key = way;
			struct ledger_counts *c = bpf_map_lookup_elem(&counts, &key);

			if (c) {
				c->port_taken += sent;
				c->port_refused += drops;
			}
			return 0;
		}
	}
	return 0;
}

SEC("tp_btf/xdp_cpumap_enqueue")
int BPF_PROG(ring_enqueues, int map_id, unsigned int processed, unsigned int drops, int to_cpu)
{
	u32 id = map_id, *way = bpf_map_lookup_elem(&rings, &id);
	struct ledger_counts *c;

	if (!way)
		return 0;
	c = bpf_map_lookup_elem(&counts, way);
	if (c) {
		/* Processed means looked at: the refused ones are among them. */
		c->ring_taken += processed - drops;
		c->ring_refused += drops;
	}
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
