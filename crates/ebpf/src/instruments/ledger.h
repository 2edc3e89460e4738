// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the ledger counts between sender and DUT. */
#pragma once
#include "../base.h"

#define DIRECTIONS 2

/* One CPU's counts of one direction. */
struct ledger_counts {
	u64 port_taken;
	u64 port_refused;
	u64 ring_taken;
	u64 ring_refused;
};
