// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Faults planted on the DUT's path to calibrate the meter: a program apart from sender and receiver,
 * at the DUT's egress, that knows no sequence of theirs but what stands in the frames, and keeps its
 * own count. What it planted, the meter must find.
 *
 * Reordering is planted by letting two frames of one flow change their tags: the first takes the
 * sequence that comes next, the second the first's. For that the sequences of a flow must be
 * consecutive: one flow. If the second frame does not come next, no swap is counted. The first then
 * stands for it, and its own sequence is missing.
 *
 * "One in N" hits the middle of each stretch of N sequences, so that the few canaries (sequences 0 to
 * 15) are never hit.
 */
#include "fault.h"

/* enum tcx_action_base, younger than the headers of Debian 12; TC_ACT_UNSPEC and TC_ACT_SHOT are the same. */
#define TCX_NEXT -1
#define TCX_DROP 2
#define NS_PER_S 1000000000ULL
/* More is owed by no interrupt: a stall, which trials leave out. Shorter spins after it would not be. */
#define OWED_MAX_NS 50000ULL

const volatile u64 drop_every = 0;
const volatile u64 duplicate_every = 0;
const volatile u64 swap_every = 0;
const volatile u64 delay_ns = 0;
const volatile u64 police_fps = 0;
const volatile u64 police_burst = 64;
const volatile u32 out_ifindex = 0;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct fault_counts);
} counts SEC(".maps");

/* One egress, one DUT CPU: no lock. [0] when the next frame conforms, [1] the sequence that ends a swap, or 0. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, u32);
	__type(value, u64);
} memory SEC(".maps");

static __always_inline u64 *remembered(u32 place)
{
	return bpf_map_lookup_elem(&memory, &place);
}

static __always_inline struct tag *find_tag(struct __sk_buff *skb)
{
	void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	struct ether *ether = data;
	struct ipv4 *ip4 = data + sizeof(*ether);
	struct ipv6 *ip6 = data + sizeof(*ether);
	struct udp *udp;

	if ((void *)(ip4 + 1) + sizeof(*udp) + sizeof(struct tag) > end)
		return 0;
	if (ether->type == bpf_htons(ETHERTYPE_IPV4) && ip4->protocol == PROTOCOL_UDP)
		return (void *)(ip4 + 1) + sizeof(*udp);
	if ((void *)(ip6 + 1) + sizeof(*udp) + sizeof(struct tag) > end)
		return 0;
	if (ether->type == bpf_htons(ETHERTYPE_IPV6) && ip6->next_header == PROTOCOL_UDP)
		return (void *)(ip6 + 1) + sizeof(*udp);
	return 0;
}

static __always_inline int over_rate(u64 now)
{
	u64 *next = remembered(0), gap;

	if (!police_fps || !next)
		return 0;
	/* Virtual scheduling (GCRA): the bucket holds police_burst frames. */
	gap = NS_PER_S / police_fps;
	if (*next < now)
		*next = now;
	if (*next - now > police_burst * gap)
		return 1;
	*next += gap;
	return 0;
}

static __always_inline int hits(const struct tag *tag, u64 every)
{
	return every && tag_sequence(tag) % every == every / 2;
}

static __always_inline void swap(struct tag *tag, struct fault_counts *c)
{
	u64 *half = remembered(1), awaited;

	if (!swap_every || !half)
		return;
	awaited = *half;
	*half = 0;
	if (awaited && tag_sequence(tag) == awaited) {
		tag_write(tag, tag_id(tag), awaited - 1, tag_time(tag));
		c->swapped++;
	} else if (hits(tag, swap_every)) {
		*half = tag_sequence(tag) + 1;
		tag_write(tag, tag_id(tag), *half, tag_time(tag));
	}
}

struct spinning {
	u64 until;
	u64 now;
};

static long spin(u32 turn, struct spinning *spinning)
{
	spinning->now = bpf_ktime_get_ns();
	return spinning->now >= spinning->until;
}

/*
 * A spin by the clock takes too long by a part of its last turn and by interrupts. Later spins are shorter by a quarter
 * at most until that is made up for, so that their mean is delay_ns. An eighth would be too little: a turn is up to 60 ns.
 */
static __always_inline void hold(u64 now, struct fault_counts *c)
{
	u64 less = c->owed_ns < delay_ns / 4 ? c->owed_ns : delay_ns / 4, took;
	struct spinning spinning = { .until = now + delay_ns - less, .now = now };

	bpf_loop(1 << 20, spin, &spinning, 0);
	took = spinning.now - now;
	c->delayed++;
	c->delayed_ns += took;
	c->owed_ns += took;
	c->owed_ns = c->owed_ns > delay_ns ? c->owed_ns - delay_ns : 0;
	if (c->owed_ns > OWED_MAX_NS)
		c->owed_ns = OWED_MAX_NS;
}

SEC("tc")
int plant(struct __sk_buff *skb)
{
	u32 zero = 0;
	struct fault_counts *c = bpf_map_lookup_elem(&counts, &zero);
	u64 now;
	struct tag *tag;
	int copy;

	/* A copy of ours comes by again: it carries our mark. */
	if (skb->mark == 0x6d707073)
		return TCX_NEXT;
	tag = find_tag(skb);
	if (!c || !tag)
		return TCX_NEXT;
	c->seen++;
	/* After the headers were read: to wait for their memory is no part of a spin. */
	now = bpf_ktime_get_ns();
	if (over_rate(now)) {
		c->policed++;
		return TCX_DROP;
	}
	if (hits(tag, drop_every)) {
		c->dropped++;
		return TCX_DROP;
	}
	copy = hits(tag, duplicate_every);
	swap(tag, c);
	if (delay_ns)
		hold(now, c);
	if (copy) {
		skb->mark = 0x6d707073;
		/* Above 0: the copy went its way and was dropped there, as by a receiver at the exit. */
		if (bpf_clone_redirect(skb, out_ifindex, 0) >= 0)
			c->duplicated++;
		skb->mark = 0;
	}
	return TCX_NEXT;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
