// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The sender. User space starts one BPF_PROG_TEST_RUN with live frames a trial; the kernel then calls
 * this program for one page after the other, millions of times a second. Before a slot is due the
 * program drops the page (it is recycled at once: a busy wait of ~75 ns a turn); when it is due it
 * writes the whole frame (the DUT had the page before: nothing in it can be trusted) and redirects it
 * to the port. A call costs about 20 ms to set up, hence one a trial and the pace kept in here.
 *
 * Rule 4.2 of the design: a slot later than late_max_ns is not made up for. It is counted unsent, and
 * so no load is ever claimed that was not offered.
 */
#include "sender.h"

const volatile struct sender_template templates[DIRECTIONS];
const volatile u32 directions = 1;
const volatile u32 ipv6 = 0;
const volatile u32 flows = 1;
/* Frame lengths without FCS, in the order they are sent; one entry: all frames alike. */
const volatile u16 sizes[SIZES_MAX];
const volatile u32 sizes_count = 1;
const volatile u32 size_largest = 60;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct sender_state);
} state SEC(".maps");

/* Frames handed over by length without FCS: [direction * (FRAME_OCTETS_MAX + 1) + length]. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DIRECTIONS * (FRAME_OCTETS_MAX + 1));
	__type(key, u32);
	__type(value, u64);
} sent_by_length SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, DIRECTIONS);
	__type(key, u32);
	__type(value, u32);
} ports SEC(".maps");

/* Writes headers and tag; 0 when the page is too short (cannot be: the verifier wants the test). */
static __always_inline int write_frame(struct xdp_md *ctx, struct sender_state *s, u32 way, u32 length, u64 now)
{
	struct sender_direction *d = &s->direction[way];
	const volatile struct sender_template *t = &templates[way];
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	u16 port = PORT_FIRST + d->port;
	u32 sum, header = ipv6 ? 62 : 42, udp_length = length - (ipv6 ? 54 : 34);
	struct udp *udp;
	int i;

	if (data + header + sizeof(struct tag) > end)
		return 0;
	/* 64-bit words: the templates are padded, and what is copied too far is overwritten by the tag. */
	for (i = 0; i < (ipv6 ? 8 : 6); i++)
		((u64 *)data)[i] = ((const volatile u64 *)t->header)[i];
	if (ipv6) {
		struct ipv6 *ip = data + sizeof(struct ether);
		u32 *host = (u32 *)&ip->source[12];

		ip->payload_length = bpf_htons(udp_length);
		*host = bpf_htonl(bpf_ntohl(*host) + (u32)d->host);
	} else {
		struct ipv4 *ip = data + sizeof(struct ether);

		ip->total_length = bpf_htons(length - sizeof(struct ether));
		ip->source = bpf_htonl(bpf_ntohl(ip->source) + (u32)d->host);
		ip->checksum = bpf_htons(checksum_finish(t->ip_sum + length - sizeof(struct ether) + (u32)d->host));
	}
	udp = data + header - sizeof(struct udp);
	udp->source = bpf_htons(port);
	udp->destination = bpf_htons(port);
	udp->length = bpf_htons(udp_length);
	sum = tag_write(data + header, s->id, d->sequence, now);
	/* The length stands in the pseudo header and in the UDP header. */
	sum = checksum_finish(sum + t->udp_sum + 2 * udp_length + 2 * (u32)port + (u32)d->host);
	udp->checksum = bpf_htons(sum ? sum : 0xffff);
	return 1;
}

static __always_inline void next_flow(struct sender_direction *d)
{
	if (flows == 1)
		return;
	if (d->host * PORT_COUNT + d->port + 1 >= flows) {
		d->port = 0;
		d->host = 0;
	} else if (++d->port == PORT_COUNT) {
		d->port = 0;
		d->host++;
	}
}

/* Passes slots without a frame; with two directions every other slot belongs to the second. */
static __always_inline void count_unsent(struct sender_state *s, u64 skip)
{
	u64 second = directions == 2 ? (skip + (s->slot & 1)) >> 1 : 0;

	s->direction[0].unsent += skip - second;
	s->direction[1].unsent += second;
	s->slot += skip;
}

/* Gives up the slots whose time has passed the bound; returns how late the next one is, in ns. */
static __always_inline u64 skip_overdue(struct sender_state *s, u64 now)
{
	u64 due = s->started_ns + ((s->slot * s->gap_fp) >> PACE_SHIFT);
	u64 late = now - due, skip;

	if (late <= s->late_max_ns)
		return late;
	skip = (((late - s->late_max_ns) << PACE_SHIFT) / s->gap_fp) + 1;
	if (skip > s->slots - s->slot)
		skip = s->slots - s->slot;
	count_unsent(s, skip);
	due = s->started_ns + ((s->slot * s->gap_fp) >> PACE_SHIFT);
	return now > due ? now - due : 0;
}

static __always_inline void count_sent(struct sender_state *s, u32 way, u32 length, u64 now, u64 late)
{
	u32 key = way * (FRAME_OCTETS_MAX + 1) + length;
	u64 *sent = bpf_map_lookup_elem(&sent_by_length, &key);

	if (sent)
		(*sent)++;
	histogram_add(s->lateness, late);
	if (late > s->late_largest_ns)
		s->late_largest_ns = late;
	if (!s->first_ns)
		s->first_ns = now;
	s->last_ns = now;
	if (++s->burst > s->burst_largest)
		s->burst_largest = s->burst;
}

SEC("xdp")
int send(struct xdp_md *ctx)
{
	u32 zero = 0, way, length, at;
	u64 now = bpf_ktime_get_ns(), late = 0;
	struct sender_state *s = bpf_map_lookup_elem(&state, &zero);
	struct sender_direction *d;

	if (!s || s->ended_ns)
		return XDP_DROP;
	if (!s->started_ns)
		s->started_ns = now + s->delay_ns;
	if (now < s->started_ns + ((s->slot * s->gap_fp) >> PACE_SHIFT)) {
		s->burst = 0;
		return XDP_DROP;
	}
	if (s->gap_fp)
		late = skip_overdue(s, now);
	if (s->slot >= s->slots) {
		s->ended_ns = now;
		return XDP_DROP;
	}
	way = directions == 2 ? s->slot & 1 : 0;
	d = &s->direction[way];
	length = size_largest;
	if (sizes_count > 1) {
		at = d->size_at;
		if (at >= SIZES_MAX)
			return XDP_ABORTED;
		length = sizes[at];
		d->size_at = at + 1 < sizes_count ? at + 1 : 0;
		if (length != size_largest && bpf_xdp_adjust_tail(ctx, (int)length - (int)size_largest)) {
			s->refused++;
			return XDP_DROP;
		}
	}
	s->slot++;
	if (!write_frame(ctx, s, way, length, now) || bpf_redirect_map(&ports, way, 0) != XDP_REDIRECT) {
		s->refused++;
		return XDP_DROP;
	}
	d->sequence++;
	next_flow(d);
	count_sent(s, way, length, now, late);
	return XDP_REDIRECT;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
