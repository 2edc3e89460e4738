/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What every program of ours begins with: kernel types, helpers, the shapes of the headers we touch. */
#ifndef MPPS_BASE_H
#define MPPS_BASE_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_endian.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;

#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd
#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17
/* Live frames hold one page less head room and tail room; above this length a frame is refused. */
#define FRAME_OCTETS_MAX 3400

struct ether {
	u8 destination[6];
	u8 source[6];
	u16 type;
} __attribute__((packed));

struct ipv4 {
	u8 version_ihl;
	u8 tos;
	u16 total_length;
	u16 identification;
	u16 fragment;
	u8 ttl;
	u8 protocol;
	u16 checksum;
	u32 source;
	u32 destination;
} __attribute__((packed));

struct ipv6 {
	u32 version_class_flow;
	u16 payload_length;
	u8 next_header;
	u8 hop_limit;
	u8 source[16];
	u8 destination[16];
} __attribute__((packed));

struct udp {
	u16 source;
	u16 destination;
	u16 length;
	u16 checksum;
} __attribute__((packed));

/* The test tag, right after the UDP header: 16-bit id, 40-bit sequence, 40-bit time in ns, big-endian. */
struct tag {
	u16 word[6];
} __attribute__((packed));

_Static_assert(sizeof(struct ether) == 14, "ether");
_Static_assert(sizeof(struct ipv4) == 20, "ipv4");
_Static_assert(sizeof(struct ipv6) == 40, "ipv6");
_Static_assert(sizeof(struct udp) == 8, "udp");
_Static_assert(sizeof(struct tag) == 12, "tag");

#define MASK40 ((1ULL << 40) - 1)

static __always_inline u16 tag_id(const struct tag *tag)
{
	return bpf_ntohs(tag->word[0]);
}

static __always_inline u64 tag_sequence(const struct tag *tag)
{
	return ((u64)bpf_ntohs(tag->word[1]) << 24) | ((u64)bpf_ntohs(tag->word[2]) << 8) |
	       (bpf_ntohs(tag->word[3]) >> 8);
}

static __always_inline u64 tag_time(const struct tag *tag)
{
	return ((u64)(bpf_ntohs(tag->word[3]) & 0xff) << 32) | ((u64)bpf_ntohs(tag->word[4]) << 16) |
	       bpf_ntohs(tag->word[5]);
}

/* Fills the tag and returns the sum of its six words, for the UDP checksum. */
static __always_inline u32 tag_write(struct tag *tag, u16 id, u64 sequence, u64 time)
{
	u16 w0 = id, w1 = sequence >> 24, w2 = sequence >> 8;
	u16 w3 = (u16)(sequence << 8) | ((time >> 32) & 0xff), w4 = time >> 16, w5 = time;

	tag->word[0] = bpf_htons(w0);
	tag->word[1] = bpf_htons(w1);
	tag->word[2] = bpf_htons(w2);
	tag->word[3] = bpf_htons(w3);
	tag->word[4] = bpf_htons(w4);
	tag->word[5] = bpf_htons(w5);
	return (u32)w0 + w1 + w2 + w3 + w4 + w5;
}

/* RFC 1071: folds a sum of 16-bit words to one, complemented. */
static __always_inline u16 checksum_finish(u32 sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/*
 * An index below the limit, in a way that both compiler and verifier see: the compiler would drop the
 * test where it can prove it, and the verifier then not follow.
 */
static __always_inline u32 bounded(u32 index, u32 limit)
{
	asm volatile("" : "+r"(index));
	return index < limit ? index : limit - 1;
}

/*
 * Log-linear buckets, the same scheme as mpps_method::histogram: values below 32 exact, then 32
 * linear steps for every power of two (an error of at most 1/32), up to 2^40.
 */
#define HISTOGRAM_SUB_BITS 5
#define HISTOGRAM_BUCKETS 1152

/* Place of the highest bit set; written out, for BPF has no such instruction. */
static __always_inline u32 highest_bit(u64 value)
{
	u32 place = 0;

	if (value >> 32) {
		place = 32;
		value >>= 32;
	}
	if (value >> 16) {
		place += 16;
		value >>= 16;
	}
	if (value >> 8) {
		place += 8;
		value >>= 8;
	}
	if (value >> 4) {
		place += 4;
		value >>= 4;
	}
	if (value >> 2) {
		place += 2;
		value >>= 2;
	}
	return place + (value >> 1);
}

static __always_inline u32 histogram_index(u64 value)
{
	u32 shift, index;

	if (value < (1 << HISTOGRAM_SUB_BITS))
		return value;
	if (value > MASK40)
		return HISTOGRAM_BUCKETS - 1;
	shift = highest_bit(value) - HISTOGRAM_SUB_BITS;
	index = ((shift + 1) << HISTOGRAM_SUB_BITS) + ((value >> shift) & ((1 << HISTOGRAM_SUB_BITS) - 1));
	return index;
}

static __always_inline void histogram_add(u64 *buckets, u64 value)
{
	buckets[bounded(histogram_index(value), HISTOGRAM_BUCKETS)]++;
}

#endif
