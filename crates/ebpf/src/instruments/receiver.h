/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef MPPS_RECEIVER_H
#define MPPS_RECEIVER_H

#include "../base.h"

#define RECEIVED_TAGGED 0
#define RECEIVED_DUPLICATED 1
#define RECEIVED_REORDERED 2
#define RECEIVED_FOREIGN 3
#define RECEIVED_LATE 4
#define RECEIVED_CANARY 5
#define RECEIVED_BEYOND 6

/* TTL and hop limit of the sender's frames; receiver.rs has the same. */
#define SENT_TTL 64

/* One CPU's counts. All members u64; the order is fixed by receiver.rs. */
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
	u64 not_lowered; /* timed frames that came with the TTL or hop limit they were sent with, or more */
	u64 latency[HISTOGRAM_BUCKETS];
};

#endif
