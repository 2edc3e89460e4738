// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The end of the way: every frame is dropped in the driver, and nothing else is done. The port's own
 * statistics count them. The cheapest receiver there is, the same for every sender.
 */
#include "../base.h"

SEC("xdp.frags")
int sink(struct xdp_md *context)
{
	return XDP_DROP;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
