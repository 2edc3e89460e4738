/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef MPPS_RECEIVER_H
#define MPPS_RECEIVER_H

#include "../base.h"

/* A window of time is 2^23 ns, 8.4 ms; places for 34 s of them. */
#define WINDOW_SHIFT 23
#define WINDOWS_MAX 4096

/* TTL and hop limit of the sender's frames; receiver.rs has the same. */
#define SENT_TTL 64

/* One CPU's counts. */
struct receiver_counts {
	u64 tagged;	/* frames of this trial, duplicates included */
	u64 duplicated; /* of these: sequence seen before */
	u64 reordered;	/* of these: sequence below one already seen in the same flow (RFC 4737) */
	u64 foreign;	/* frames without our tag */
	u64 late;	/* frames of an earlier trial */
	u64 canary;
	u64 beyond;	/* frames of this trial with a sequence nobody was to send: a fault */
	u64 first_ns;
	u64 last_ns;
	u64 merged;	/* frames merged into larger ones, which only the port's receiver can tell apart */
	u64 window;	/* number of the window written down last */
	u64 not_lowered; /* timed frames that came with the TTL or hop limit they were sent with, or more */
	u64 gap_from_ns; /* the longest time looked at in which no timed frame came */
	u64 gap_to_ns;
	u64 gap_tagged;	/* frames of this trial before it */
	u64 latency[HISTOGRAM_BUCKETS];
};

/* From when until when gaps are looked for, monotonic ns. */
struct receiver_span {
	u64 from_ns;
	u64 until_ns;
};

/* When a window's first timed frame came, and how many frames of the trial were counted by then. */
struct receiver_window {
	u64 ns;
	u64 tagged;
};

#endif
