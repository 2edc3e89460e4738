/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef MPPS_SENDER_H
#define MPPS_SENDER_H

#include "../base.h"
#include "ledger.h"

/* Time is kept in ns << PACE_SHIFT: an integer gap would be 0.1-0.2 % off above 3 Mpps. */
#define PACE_SHIFT 20
/* The tag id of the second direction's frames has this bit; crates/lab/src/tester/ways.rs has the same. */
#define WAY_SHIFT 15
/* A prime, so that the schedule of sizes never beats with the number of flows. */
#define SIZES_MAX 4093
#define PORT_FIRST 1024
#define PORT_COUNT 64512
/* Hosts of the tester's /16 from its own address (host 2) on; see mpps_method::flows. */
#define HOST_COUNT 65533
/* Octets of headers at most: Ethernet, IPv6, TCP, padded to 64-bit words. */
#define HEADER_OCTETS_MAX 80
#define TCP_OCTETS 20
/* Paces that take turns, at most, and how long a turn is: (1 << TURN_SHIFT) ns, by the monotonic clock. */
#define TURNS_MAX 16
#define TURN_SHIFT 25

/* Where one direction stands. */
struct sender_direction {
	u64 sequence;	 /* frames handed to redirect so far = next sequence number */
	u64 unsent;	 /* slots passed without a frame */
	u64 size_at;	 /* next place in the schedule of sizes */
	u64 port;	 /* next flow's port, less PORT_FIRST */
	u64 host;	 /* next flow's offset to the source address */
	u64 flow;	 /* its place among the flows that take turns */
	u64 round;	 /* frames each of these has had */
	u64 port_first;	 /* port and host of the first of these */
	u64 host_first;
	u64 dest_at;	 /* next place in the list of destinations */
	u64 lap;	 /* times the list has been passed */
	u64 dest_first;	 /* both, of the first of the flows that take turns */
	u64 lap_first;
};

/* The order of one trial, then what became of it. */
struct sender_state {
	/* order: written by user space before the call */
	u64 gap_fp;	 /* time between slots, ns << PACE_SHIFT; 0: back-to-back */
	u64 slots;	 /* slots of the trial, over all directions */
	u64 late_max_ns; /* bound of catching up: a slot later than this stays unsent */
	u64 id;		 /* tag id, below 1 << WAY_SHIFT */
	u64 delay_ns;	 /* from the first call of the program to the first slot */
	u64 plain;	 /* all frames to the template's addresses, whatever the list says (canaries) */
	u64 mark_gap_ns; /* from one mark to the next at least */
	u64 slow_after_ns; /* from the first slot to the slower pace */
	u64 slow_gap_fp; /* its time between slots; 0: the pace stays as it is */
	u64 turns;	 /* paces that take turns; 0: one pace */
	u64 turn_gap_fp[TURNS_MAX];
	u64 batch;	 /* pages the kernel hands on at once */
	u64 back_off_frames; /* after a refusal it pauses until so many will have been taken; 0: no pause */
	u64 lasts_ns;	 /* ends so long after the first slot, whatever slots are left; 0: with the last slot */
	/* outcome */
	u64 started_ns;	   /* when the first slot was due */
	u64 slot;	   /* slots passed, sent or not */
	u64 slot_fp;	   /* when the next slot is due, after started_ns, ns << PACE_SHIFT */
	u64 first_ns;	   /* first frame handed over */
	u64 last_ns;	   /* last frame handed over */
	u64 ended_ns;	   /* all slots passed (0: still at it) */
	u64 burst;	   /* frames since the sender last waited */
	u64 burst_largest;
	u64 refused;	   /* frames the program could not build or redirect: a fault of ours */
	u64 late_largest_ns;
	u64 clock_ns;	   /* last reading of the clock */
	u64 clock_left;	   /* frames it may still serve */
	u64 mark_due_ns;   /* when the next mark is due */
	u64 marks;	   /* marks made */
	u64 slowed_ns;	   /* when the pace became slower (0: not yet) */
	u64 turn_end_ns;   /* when the present turn ends */
	u64 batch_at;	   /* pages of the present batch that were served */
	u64 window_end_ns; /* when its window ends */
	u64 refused_seen;  /* frames that ports and rings had refused at the last refusal */
	u64 refused_ns;	   /* when that was seen (0: never looked) */
	u64 refused_sent;  /* frames handed over until then */
	struct sender_direction direction[DIRECTIONS];
	u64 lateness[HISTOGRAM_BUCKETS];
};

/* How far the sender was at a moment: the next frame's sequence number, by direction. */
struct sender_mark {
	u64 ns;
	u64 sequence[DIRECTIONS];
};

/* A batch waits for slots for so long; sender.rs has the same. */
#define BATCH_WAIT_NS 10000
/* Longest pause after a refusal; sender.rs has the same. */
#define PAUSE_MAX_NS 400000
/* Readings of the clock until a wait is given up. */
#define WAIT_TURNS_MAX 65536

/* The sender paused for so long: both ends of the pause are marked. */
#define MARK_PAUSE_NS 100000
/* Marks kept of a trial; sender.rs has the same. */
#define MARKS_MAX 65536

/*
 * What is the same in every frame of one direction. The destination is the one beyond the DUT: the first
 * direction's destination, the second direction's source.
 */
struct sender_template {
	u64 header[HEADER_OCTETS_MAX / 8]; /* Ethernet, IP, UDP or TCP: 42, 54 (IPv4) or 62, 74 octets (IPv6) */
	u32 source;  /* last 32 bits of flow 0's source address */
	u32 ip_sum;  /* IPv4 header sum without total length, flow's offset and destination */
	u32 l4_sum;  /* pseudo header and UDP or TCP header sum without lengths, ports, offset, tag, destination */
	u32 dest_sum; /* of the destination in the header */
};

/* An address in the machine's order; IPv4 has its 32 bits in low. */
struct dest_address {
	u64 high;
	u64 low;
};

#endif
