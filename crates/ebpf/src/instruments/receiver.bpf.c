// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The receiver: counts every frame that reaches the tester's port and drops it. A frame counts for
 * the trial only by its tag. Loss follows from a bit for every sequence number (so a duplicate can
 * never hide a loss), reordering from the highest sequence seen in the frame's flow: over all flows
 * together two queues would show reordering that no flow has.
 */
#include "receiver.h"

/* The address and port of flow 0 as the receiver meets them: flow numbers are read off the headers. */
const volatile u32 source_first = 0;
const volatile u32 flows = 1;
const volatile u64 sequences_max = 64;
/*
 * Frames whose sequence has none of these bits are timed. Taking the time costs 20-30 ns a frame: all
 * of them (0) for latency, one in 16 (15) where the receiver is polled anyway.
 */
const volatile u64 untimed_bits = 0;

/* The trial now: [0] tag id, [1] canaries' id. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, u32);
	__type(value, u64);
} trial SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct receiver_counts);
} counts SEC(".maps");

/* Frames of this trial by length without FCS. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, FRAME_OCTETS_MAX + 1);
	__type(key, u32);
	__type(value, u64);
} received_by_length SEC(".maps");

/* A bit a sequence number, written by every CPU that receives: atomic. Sized before loading. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} seen SEC(".maps");

/* Next sequence expected in each flow. Sized before loading. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} expected SEC(".maps");

struct parsed {
	const struct tag *tag;
	u32 flow;
};

#define PORT_FIRST 1024
#define PORT_COUNT 64512

/* Finds the tag; 0 when the frame is not shaped like ours. */
static __always_inline int parse(struct xdp_md *ctx, struct parsed *p)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ether *ether = data;
	struct ipv4 *ip4 = data + sizeof(*ether);
	struct ipv6 *ip6 = data + sizeof(*ether);
	struct udp *udp;
	u32 source;

	if ((void *)(ip4 + 1) + sizeof(*udp) + sizeof(struct tag) > end)
		return 0;
	if (ether->type == bpf_htons(ETHERTYPE_IPV4)) {
		if (ip4->version_ihl != 0x45 || ip4->protocol != PROTOCOL_UDP)
			return 0;
		source = bpf_ntohl(ip4->source);
		udp = (void *)(ip4 + 1);
	} else if (ether->type == bpf_htons(ETHERTYPE_IPV6)) {
		if ((void *)(ip6 + 1) + sizeof(*udp) + sizeof(struct tag) > end || ip6->next_header != PROTOCOL_UDP)
			return 0;
		source = bpf_ntohl(*(u32 *)&ip6->source[12]);
		udp = (void *)(ip6 + 1);
	} else {
		return 0;
	}
	/* A translated source (NAT) makes no sense as a flow number: such frames share flow 0. */
	p->flow = (source - source_first) * PORT_COUNT + (u32)bpf_ntohs(udp->destination) - PORT_FIRST;
	if (p->flow >= flows)
		p->flow = 0;
	p->tag = (void *)(udp + 1);
	return 1;
}

/* 1 when the sequence was seen before. */
static __always_inline int mark_seen(u64 sequence)
{
	u32 word = sequence >> 6;
	u64 bit = 1ULL << (sequence & 63), *bits = bpf_map_lookup_elem(&seen, &word);

	return bits && (__sync_fetch_and_or(bits, bit) & bit);
}

static __always_inline int is_reordered(u32 flow, u64 sequence)
{
	u64 *next = bpf_map_lookup_elem(&expected, &flow);

	if (!next)
		return 0;
	if (sequence < *next)
		return 1;
	*next = sequence + 1;
	return 0;
}

static __always_inline void count_time(struct receiver_counts *c, const struct tag *tag)
{
	u64 now = bpf_ktime_get_ns();

	histogram_add(c->latency, (now - tag_time(tag)) & MASK40);
	if (!c->first_ns)
		c->first_ns = now;
	c->last_ns = now;
}

static __always_inline void count_tagged(struct xdp_md *ctx, struct receiver_counts *c, struct parsed *p)
{
	u64 sequence = tag_sequence(p->tag), *by_length;
	u32 length = ctx->data_end - ctx->data;

	if (sequence >= sequences_max) {
		c->beyond++;
		return;
	}
	c->tagged++;
	if (!(sequence & untimed_bits))
		count_time(c, p->tag);
	if (mark_seen(sequence)) {
		c->duplicated++;
		return;
	}
	if (is_reordered(p->flow, sequence))
		c->reordered++;
	by_length = bpf_map_lookup_elem(&received_by_length, &length);
	if (by_length)
		(*by_length)++;
}

SEC("xdp")
int receive(struct xdp_md *ctx)
{
	u32 zero = 0, one = 1;
	struct receiver_counts *c = bpf_map_lookup_elem(&counts, &zero);
	u64 *now_id = bpf_map_lookup_elem(&trial, &zero), *canary_id = bpf_map_lookup_elem(&trial, &one);
	struct parsed p = {};
	u16 id;

	if (!c || !now_id || !canary_id)
		return XDP_ABORTED;
	if (!parse(ctx, &p)) {
		c->foreign++;
		return XDP_DROP;
	}
	id = tag_id(p.tag);
	if (id == (u16)*now_id)
		count_tagged(ctx, c, &p);
	else if (id == (u16)*canary_id)
		c->canary++;
	else if ((u16)(*now_id - id) < 0x4000)
		c->late++;
	else
		c->foreign++;
	return XDP_DROP;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
