/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How one test frame is written: the template's headers, then what differs from frame to frame. Family
 * and transport are constants of each copy of the code; the verifier drops the copies not in use. Fields
 * are written at their offsets, whole: through packed structs the compiler writes octet by octet.
 */
#ifndef MPPS_SENDER_FRAME_H
#define MPPS_SENDER_FRAME_H

#include "sender.h"

#define IPV4_LENGTH 16
#define IPV4_CHECKSUM 24
#define IPV4_SOURCE 26
#define IPV4_DESTINATION 30
#define IPV6_LENGTH 18
#define IPV6_SOURCE 22
#define IPV6_DESTINATION 38
/* From the beginning of the UDP or TCP header. */
#define L4_SOURCE 0
#define UDP_LENGTH 4
#define UDP_CHECKSUM 6
#define TCP_SEQUENCE 4
#define TCP_CHECKSUM 16

#define AT16(place) (*(u16 *)(data + (place)))
#define AT32(place) (*(u32 *)(data + (place)))
#define AT64(place) (*(u64 *)(data + (place)))

/* What sets one frame apart. */
struct frame_fields {
	u32 length;   /* without FCS */
	u32 host;     /* offset to the source address */
	u32 position; /* of its octets in the stream (TCP) */
	u32 port;
	u64 id;
	u64 sequence;
	u64 now;
	struct dest_address far;
	u32 dest_sum;
	int with_dest; /* far replaces the template's destination */
};

/* Adds a word's halves: the sums of 16-bit words, to be folded further. */
static __always_inline u32 halves(u32 word)
{
	return (word >> 16) + (u16)word;
}

/* The sum of the address's 16-bit words, below 2^18. */
static __always_inline u32 address_sum(const struct dest_address *far)
{
	u64 sum = (far->high >> 32) + (u32)far->high + (far->low >> 32) + (u32)far->low;

	return (u32)(sum >> 32) + halves(sum);
}

/* Fills the tag with two stores and returns the sum of its six words. */
static __always_inline u32 write_tag(void *data, const struct frame_fields *f)
{
	u64 high = f->id << 48 | f->sequence << 8 | ((f->now >> 32) & 0xff), sum;
	u32 low = f->now;

	AT64(0) = bpf_cpu_to_be64(high);
	AT32(8) = bpf_htonl(low);
	sum = (high >> 32) + (u32)high + low;
	return (u32)(sum >> 32) + halves(sum);
}

static __always_inline void write_ipv4(void *data, const volatile struct sender_template *t,
				       const struct frame_fields *f, u32 way)
{
	u32 length = f->length - sizeof(struct ether);

	AT16(IPV4_LENGTH) = bpf_htons(length);
	AT32(IPV4_SOURCE) = bpf_htonl(t->source + f->host);
	if (f->with_dest)
		AT32(way ? IPV4_SOURCE : IPV4_DESTINATION) = bpf_htonl(f->far.low);
	AT16(IPV4_CHECKSUM) = bpf_htons(checksum_finish(t->ip_sum + length + f->host + f->dest_sum));
}

static __always_inline void write_ipv6(void *data, const volatile struct sender_template *t,
				       const struct frame_fields *f, u32 way)
{
	AT16(IPV6_LENGTH) = bpf_htons(f->length - sizeof(struct ether) - sizeof(struct ipv6));
	AT32(IPV6_SOURCE + 12) = bpf_htonl(t->source + f->host);
	if (f->with_dest) {
		AT64(way ? IPV6_SOURCE : IPV6_DESTINATION) = bpf_cpu_to_be64(f->far.high);
		AT64((way ? IPV6_SOURCE : IPV6_DESTINATION) + 8) = bpf_cpu_to_be64(f->far.low);
	}
}

static __always_inline void write_udp(void *data, const struct frame_fields *f, u32 length, u32 sum)
{
	u16 port = bpf_htons(f->port);

	AT32(L4_SOURCE) = port | (u32)port << 16;
	AT16(UDP_LENGTH) = bpf_htons(length);
	/* The length stands in the pseudo header and in the UDP header. */
	sum = checksum_finish(sum + length);
	AT16(UDP_CHECKSUM) = bpf_htons(sum ? sum : 0xffff);
}

static __always_inline void write_tcp(void *data, const struct frame_fields *f, u32 sum)
{
	u16 port = bpf_htons(f->port);

	AT32(L4_SOURCE) = port | (u32)port << 16;
	AT32(TCP_SEQUENCE) = bpf_htonl(f->position);
	AT16(TCP_CHECKSUM) = bpf_htons(checksum_finish(sum + halves(f->position)));
}

#define COPY(word) AT64(8 * (word)) = t->header[word]

/*
 * Writes headers and tag; 0 when the page is too short (cannot be: the verifier wants the test).
 * The offset of the source address joins the sums as it is: the address's last 16 bits never carry.
 */
static __always_inline int write_frame(struct xdp_md *ctx, const volatile struct sender_template *t,
				       const struct frame_fields *f, u32 way, const int v6, const int tcp)
{
	const u32 l4 = sizeof(struct ether) + (v6 ? sizeof(struct ipv6) : sizeof(struct ipv4));
	const u32 payload = l4 + (tcp ? TCP_OCTETS : sizeof(struct udp));
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	u32 sum, length = f->length - l4;

	if (data + payload + sizeof(struct tag) > end)
		return 0;
	/* Whole words: the templates are padded, and what is copied too far is overwritten by the tag. */
	COPY(0);
	COPY(1);
	COPY(2);
	COPY(3);
	COPY(4);
	COPY(5);
	if (payload > 48)
		COPY(6);
	if (payload > 56)
		COPY(7);
	if (payload > 64) {
		COPY(8);
		COPY(9);
	}
	if (v6)
		write_ipv6(data, t, f, way);
	else
		write_ipv4(data, t, f, way);
	sum = write_tag(data + payload, f) + t->l4_sum + length + 2 * f->port + f->host + f->dest_sum;
	if (tcp)
		write_tcp(data + l4, f, sum);
	else
		write_udp(data + l4, f, length, sum);
	return 1;
}

#endif
