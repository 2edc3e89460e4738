/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef MPPS_SENDER_H
#define MPPS_SENDER_H

#include "../base.h"

/* Time is kept in ns << PACE_SHIFT: an integer gap would be 0.1-0.2 % off above 3 Mpps. */
#define PACE_SHIFT 20
#define DIRECTIONS 2
/* A prime, so that the schedule of sizes never beats with the number of flows. */
#define SIZES_MAX 4093
#define PORT_FIRST 1024
#define PORT_COUNT 64512

/* Where one direction stands. All members u64: user space reads the state as words. */
struct sender_direction {
	u64 sequence; /* frames handed to redirect so far = next sequence number */
	u64 unsent;   /* slots passed without a frame */
	u64 port;     /* next flow's port, less PORT_FIRST */
	u64 host;     /* next flow's offset to the source address */
	u64 size_at;  /* next place in the schedule of sizes */
};

/* The order of one trial, then what became of it. The words' order is fixed by sender.rs. */
struct sender_state {
	/* order: written by user space before the call */
	u64 gap_fp;	 /* time between slots, ns << PACE_SHIFT; 0: back-to-back */
	u64 slots;	 /* slots of the trial, over all directions */
	u64 late_max_ns; /* bound of catching up: a slot later than this stays unsent */
	u64 id;		 /* tag id */
	u64 delay_ns;	 /* from the first call of the program to the first slot */
	/* outcome */
	u64 started_ns;	   /* when the first slot was due */
	u64 slot;	   /* slots passed, sent or not */
	u64 first_ns;	   /* first frame handed over */
	u64 last_ns;	   /* last frame handed over */
	u64 ended_ns;	   /* all slots passed (0: still at it) */
	u64 burst;	   /* frames since the sender last waited */
	u64 burst_largest;
	u64 refused;	   /* frames the program could not build or redirect: a fault of ours */
	u64 late_largest_ns;
	struct sender_direction direction[DIRECTIONS];
	u64 lateness[HISTOGRAM_BUCKETS];
};

/* What is the same in every frame of one direction. */
struct sender_template {
	u8 header[64];	/* Ethernet, IP, UDP: 42 octets (IPv4) or 62 (IPv6) */
	u32 ip_sum;	/* IPv4 header sum without total length and without the flow's offset */
	u32 udp_sum;	/* pseudo header and UDP sum without lengths, ports, offset and tag */
};

#endif
