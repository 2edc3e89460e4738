// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The virtual NIC before the DUT. It does what the hardware would: hash the frame (Toeplitz over
 * addresses and UDP or TCP ports), look up the queue in an indirection table, put the frame into that
 * queue's ring. The ring is a CPUMAP entry: its size is the receive ring, its pinned kthread the
 * DUT's core. A CPUMAP's key is a CPU number, so each queue has a map of its own.
 * Runs on the tester's CPU. A full ring is seen by the ledger's tracepoint, not here.
 *
 * `pass` is the NIC of the fronts whose ring is the kernel's own (napi, softirq): it only counts.
 * Each program is here twice: the kernel skips an update of a link to the program that it has
 * (`mpps reset --reset program`).
 */
#include "nic.h"

const volatile u32 queues = 1;
const volatile u8 indirection[INDIRECTION_ENTRIES];
const volatile u32 queue_cpu[QUEUES_MAX];
const volatile u32 toeplitz[HASH_INPUT_MAX][256];

struct ring {
	__uint(type, BPF_MAP_TYPE_CPUMAP);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(struct bpf_cpumap_val));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, QUEUES_MAX);
	__type(key, u32);
	__array(values, struct ring);
} rings SEC(".maps");

/* Frames by queue, on each CPU by itself. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, QUEUES_MAX);
	__type(key, u32);
	__type(value, u64);
} received SEC(".maps");

static __always_inline u32 hash_octets(const u8 *from, u32 count, u32 place)
{
	u32 hash = 0, i;

#pragma unroll
	for (i = 0; i < count; i++)
		hash ^= toeplitz[place + i][from[i]];
	return hash;
}

static __always_inline int has_ports(u8 protocol)
{
	return protocol == PROTOCOL_UDP || protocol == PROTOCOL_TCP;
}

static __always_inline u32 frame_hash(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ether *ether = data;
	struct ipv4 *ip4 = data + sizeof(*ether);
	struct ipv6 *ip6 = data + sizeof(*ether);

	if ((void *)(ip4 + 1) + sizeof(struct udp) > end)
		return 0;
	if (ether->type == bpf_htons(ETHERTYPE_IPV4)) {
		u32 hash = hash_octets((u8 *)&ip4->source, 8, 0);

		if (ip4->version_ihl == 0x45 && has_ports(ip4->protocol))
			hash ^= hash_octets((u8 *)(ip4 + 1), 4, 8);
		return hash;
	}
	if (ether->type != bpf_htons(ETHERTYPE_IPV6) || (void *)(ip6 + 1) + sizeof(struct udp) > end)
		return 0;
	if (!has_ports(ip6->next_header))
		return hash_octets(ip6->source, 32, 0);
	return hash_octets(ip6->source, 32, 0) ^ hash_octets((u8 *)(ip6 + 1), 4, 32);
}

static __always_inline u32 frame_queue(struct xdp_md *ctx)
{
	u32 queue;

	if (queues == 1)
		return 0;
	queue = indirection[frame_hash(ctx) & (INDIRECTION_ENTRIES - 1)];
	return queue < QUEUES_MAX ? queue : 0;
}

static __always_inline int into_ring(struct xdp_md *ctx)
{
	u32 queue = frame_queue(ctx);
	u64 *count = bpf_map_lookup_elem(&received, &queue);
	void *ring = bpf_map_lookup_elem(&rings, &queue);

	if (count)
		(*count)++;
	if (!ring)
		return XDP_ABORTED;
	return bpf_redirect_map(ring, queue_cpu[bounded(queue, QUEUES_MAX)], 0);
}

SEC("xdp.frags")
int nic(struct xdp_md *ctx)
{
	return into_ring(ctx);
}

SEC("xdp.frags")
int nic_second(struct xdp_md *ctx)
{
	return into_ring(ctx);
}

static __always_inline int to_kernel(struct xdp_md *ctx)
{
	u32 queue = frame_queue(ctx);
	u64 *count = bpf_map_lookup_elem(&received, &queue);

	if (count)
		(*count)++;
	return XDP_PASS;
}

SEC("xdp.frags")
int pass(struct xdp_md *ctx)
{
	return to_kernel(ctx);
}

SEC("xdp.frags")
int pass_second(struct xdp_md *ctx)
{
	return to_kernel(ctx);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
