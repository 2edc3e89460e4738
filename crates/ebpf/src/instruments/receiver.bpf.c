// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The receiver: counts every frame that reaches it and drops it. `receive` stands at the tester's port (XDP), `leave`
 * at the egress of the DUT's outgoing port (traffic control), in place of a NIC driver's transmit: then the tester's
 * CPU only sends. Both share one body. A frame counts for the trial only by its tag. Loss follows from a bit for every
 * sequence number (so a duplicate can never hide a loss), reordering from the highest sequence seen in the frame's
 * flow: over all flows together two queues would show reordering that no flow has. Which flow a frame belongs to
 * follows from its sequence, for flows and destinations take turns: that holds behind address translation too, and
 * costs the same for one flow and for millions.
 */
#include "receiver.h"

/* enum tcx_action_base, younger than the headers of Debian 12; TC_ACT_SHOT is the same. */
#define TCX_DROP 2

const volatile u32 tcp = 0;
const volatile u32 flows = 1;
/* Frames after which flows are others, one for each of the flows that take turns; 0: never. */
const volatile u64 flow_frames = 0;
/*
 * Places in `expected`: frames whose numbers are the same modulo this share one. The number is the frame's
 * sequence, or where flows have a length their flow's.
 */
const volatile u64 flow_places = 1;
/* The list of destinations has some more than once: `place_flow` says which flow is at a place. */
const volatile u32 places_repeat = 0;
const volatile u64 sequences_max = 64;
/*
 * Frames whose sequence has none of these bits are timed. Taking the time costs 20-30 ns a frame: all
 * of them (0) for latency, one in 16 (15) where the receiver is polled anyway.
 */
const volatile u64 untimed_bits = 0;
/* Frames without a tag go on to the kernel: a device of somebody else's asks for addresses. */
const volatile u32 pass_foreign = 0;

/* The trial now: [0] tag id, [1] canaries' id. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, u32);
	__type(value, u64);
} trial SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct receiver_span);
} gaps SEC(".maps");

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

/*
 * Next sequence expected in each flow, below the tag id of the trial that wrote it: what another trial
 * wrote counts as nothing, and so need not be cleared. Sized before loading.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} expected SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WINDOWS_MAX);
	__type(key, u32);
	__type(value, struct receiver_window);
} windows SEC(".maps");

/* Sized before loading, where the list repeats itself. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} place_flow SEC(".maps");

#define TCP_OCTETS 20
/* More fragments, and the offset of this one. */
#define FRAGMENT_MASK 0x3fff
/* Data offset of a TCP header without options, as the whole octet. */
#define TCP_PLAIN 0x50

/* The tag behind these headers; 0 when there is none. */
static __always_inline const struct tag *tag_behind(void *l4, void *end)
{
	u32 octets = tcp ? TCP_OCTETS : sizeof(struct udp);

	if (l4 + octets + sizeof(struct tag) > end || (tcp && ((u8 *)l4)[12] != TCP_PLAIN))
		return 0;
	return l4 + octets;
}

/* Finds the tag; 0 when the frame is not shaped like ours. */
static __always_inline const struct tag *find_tag(void *data, void *end)
{
	u8 protocol = tcp ? PROTOCOL_TCP : PROTOCOL_UDP;
	struct ether *ether = data;
	struct ipv4 *ip4 = data + sizeof(*ether);
	struct ipv6 *ip6 = data + sizeof(*ether);

	if ((void *)(ip4 + 1) > end)
		return 0;
	if (ether->type == bpf_htons(ETHERTYPE_IPV4)) {
		if (ip4->version_ihl != 0x45 || ip4->protocol != protocol)
			return 0;
		/* The router cut the frame: a first part with a tag is not the frame. */
		if (ip4->fragment & bpf_htons(FRAGMENT_MASK))
			return 0;
		return tag_behind(ip4 + 1, end);
	}
	if (ether->type != bpf_htons(ETHERTYPE_IPV6) || (void *)(ip6 + 1) > end || ip6->next_header != protocol)
		return 0;
	return tag_behind(ip6 + 1, end);
}

/* A quotient costs half as much with 32 bits; the compiler does not know that they are enough. */
static __always_inline u64 quotient(u64 sequence, u64 by)
{
	return sequences_max >> 32 ? sequence / by : (u32)sequence / (u32)by;
}

static __always_inline u32 flow_place(u64 sequence)
{
	u64 number = sequence;
	u32 place, *flow;

	if (flow_places == 1)
		return 0;
	if (flow_frames)
		number = quotient(sequence, flow_frames) * flows + (sequence - quotient(sequence, flows) * flows);
	place = number - quotient(number, flow_places) * flow_places;
	if (!places_repeat)
		return place;
	flow = bpf_map_lookup_elem(&place_flow, &place);
	return flow ? *flow : 0;
}

/* 1 when the sequence was seen before. */
static __always_inline int mark_seen(u64 sequence)
{
	u32 word = sequence >> 6;
	u64 bit = 1ULL << (sequence & 63), *bits = bpf_map_lookup_elem(&seen, &word);

	return bits && (__sync_fetch_and_or(bits, bit) & bit);
}

#define SEQUENCE_BITS 40

static __always_inline int is_reordered(const struct tag *tag, u64 sequence)
{
	u32 place = flow_place(sequence);
	u64 *next = bpf_map_lookup_elem(&expected, &place);
	u64 mine = (u64)tag_id(tag) << SEQUENCE_BITS | sequence;

	if (!next)
		return 0;
	if (*next >> SEQUENCE_BITS == tag_id(tag) && mine < *next)
		return 1;
	*next = mine + 1;
	return 0;
}

/*
 * Frames counted when a window of time began: the first timed frame of each window writes it down. The place follows
 * from the time alone, so nothing has to be cleared; what is older than the trial is left over.
 */
static __always_inline void note_window(struct receiver_counts *c, u64 now)
{
	u64 window = now >> WINDOW_SHIFT;
	u32 place = window & (WINDOWS_MAX - 1);
	struct receiver_window *at;

	if (window == c->window)
		return;
	c->window = window;
	at = bpf_map_lookup_elem(&windows, &place);
	if (!at)
		return;
	at->ns = now;
	at->tagged = c->tagged;
}

/* Gaps count that overlap the span: a pause of the machine at another time is not the reset's. */
static __always_inline int is_looked_for(u64 gap_from_ns, u64 gap_to_ns)
{
	u32 zero = 0;
	struct receiver_span *span = bpf_map_lookup_elem(&gaps, &zero);

	return span && gap_to_ns > span->from_ns && gap_from_ns < span->until_ns;
}

static __always_inline void count_time(struct receiver_counts *c, const struct tag *tag)
{
	u64 now = bpf_ktime_get_ns();

	note_window(c, now);

	histogram_add(c->latency, (now - tag_time(tag)) & MASK40);
	if (!c->first_ns) {
		c->first_ns = now;
	} else if (now - c->last_ns > c->gap_to_ns - c->gap_from_ns && is_looked_for(c->last_ns, now)) {
		c->gap_from_ns = c->last_ns;
		c->gap_to_ns = now;
		c->gap_tagged = c->tagged - 1;
	}
	c->last_ns = now;
}

/* A router lowers the TTL or hop limit (RFC 1812 5.3.1, RFC 8200 section 3); what is redirected past routing keeps it. */
static __always_inline void count_not_lowered(struct receiver_counts *c, void *data, void *end)
{
	struct ether *ether = data;
	struct ipv4 *ip4 = data + sizeof(*ether);
	struct ipv6 *ip6 = data + sizeof(*ether);

	if ((void *)(ip4 + 1) > end)
		return;
	if ((ether->type == bpf_htons(ETHERTYPE_IPV4) ? ip4->ttl : ip6->hop_limit) >= SENT_TTL)
		c->not_lowered++;
}

static __always_inline void count_tagged(void *data, void *end, u32 length, struct receiver_counts *c,
					 const struct tag *tag)
{
	u64 sequence = tag_sequence(tag), *by_length;

	if (sequence >= sequences_max) {
		c->beyond++;
		return;
	}
	c->tagged++;
	if (!(sequence & untimed_bits)) {
		count_time(c, tag);
		count_not_lowered(c, data, end);
	}
	if (mark_seen(sequence)) {
		c->duplicated++;
		return;
	}
	if (is_reordered(tag, sequence))
		c->reordered++;
	by_length = bpf_map_lookup_elem(&received_by_length, &length);
	if (by_length)
		(*by_length)++;
}

/* What becomes of a frame. */
enum fate {
	FAULT,
	OURS,
	FOREIGN,
};

static __always_inline enum fate count(void *data, void *end, u32 length)
{
	u32 zero = 0, one = 1;
	struct receiver_counts *c = bpf_map_lookup_elem(&counts, &zero);
	u64 *now_id = bpf_map_lookup_elem(&trial, &zero), *canary_id = bpf_map_lookup_elem(&trial, &one);
	const struct tag *tag;
	u16 id;

	if (!c || !now_id || !canary_id)
		return FAULT;
	tag = find_tag(data, end);
	if (!tag) {
		c->foreign++;
		return FOREIGN;
	}
	id = tag_id(tag);
	if (id == (u16)*now_id) {
		count_tagged(data, end, length, c, tag);
	} else if (id == (u16)*canary_id) {
		c->canary++;
	} else if ((u16)(*now_id - id) < 0x4000) {
		c->late++;
	} else {
		c->foreign++;
	}
	return OURS;
}

SEC("xdp")
int receive(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	enum fate fate = count(data, end, end - data);

	if (fate == FAULT)
		return XDP_ABORTED;
	return fate == FOREIGN && pass_foreign ? XDP_PASS : XDP_DROP;
}

/* Octets of the longest headers before a tag, and the tag: what must lie in the linear part. */
#define HEADERS_MAX (14 + 40 + 20 + 12)

SEC("tc")
int leave(struct __sk_buff *skb)
{
	void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	u32 zero = 0;
	struct receiver_counts *c;

	/* Frames that GRO merged are cut again only behind this hook: their tags cannot be told apart here. */
	if (skb->gso_segs > 1) {
		c = bpf_map_lookup_elem(&counts, &zero);
		if (c)
			c->merged += skb->gso_segs;
		return TCX_DROP;
	}
	if (data + HEADERS_MAX > end && skb->len >= HEADERS_MAX) {
		bpf_skb_pull_data(skb, HEADERS_MAX);
		data = (void *)(long)skb->data;
		end = (void *)(long)skb->data_end;
	}
	count(data, end, skb->len);
	return TCX_DROP;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
