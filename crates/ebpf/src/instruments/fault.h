/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef MPPS_FAULT_H
#define MPPS_FAULT_H

#include "../base.h"

/* What the planted faults did. */
struct fault_counts {
	u64 seen;	/* frames with a tag that came by */
	u64 dropped;
	u64 duplicated;
	u64 swapped;	/* pairs of frames whose tags changed places */
	u64 policed;
	u64 delayed;
	u64 delayed_ns;	/* how long these were held back, in all */
	u64 owed_ns;	/* how much longer that was than planned, as far as later spins make up for it */
};

#endif
