// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Beside a packet socket at the tester's receiving port, on a veth. `admit` gives the port a NAPI of its
 * own, as the XDP receiver does: without one the frame would be received within the DUT's transmission, at
 * the DUT's cost. `end` drops what the socket has seen: the tester's IP stack has no use for it.
 */
#include "../base.h"

/* enum tcx_action_base: younger than the kernel headers of Debian 12. */
#define TCX_DROP 2

SEC("xdp.frags")
int admit(struct xdp_md *ctx)
{
	return XDP_PASS;
}

SEC("tcx/ingress")
int end(struct __sk_buff *skb)
{
	return TCX_DROP;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
