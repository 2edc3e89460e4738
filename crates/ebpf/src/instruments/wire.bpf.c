// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A wire in place of the router: at the DUT's ingress, before any routing, every frame goes straight
 * out of the other port. What the tester reaches through it, on the trial's own CPUs and with the
 * same skbs, is the tester's ceiling.
 */
#include "../base.h"

const volatile u32 other_port = 0;

SEC("tc")
int wire(struct __sk_buff *skb)
{
	return bpf_redirect(other_port, 0);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
