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

/* What ports and rings took and refused. The sender has the ledger's own map, where a ledger watches it. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, DIRECTIONS);
	__type(key, u32);
	__type(value, struct ledger_counts);
} counts SEC(".maps");
