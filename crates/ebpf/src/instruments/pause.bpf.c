// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A CPU that stands still, planted to calibrate the machine watch: run once, the program spins, and until it returns
 * this CPU takes no softirq (no poll of a NIC, no timer of ours) and runs no task: what a hypervisor that takes the
 * CPU away, or firmware, looks like to all that forwards and watches.
 *
 * Run by a thread of its own and not by a cpu-clock perf event: on a CPU that idles without its tick the kernel
 * calls no program of such an event, and there were no pauses where the machine was quietest.
 */
#include "../base.h"

const volatile u64 pause_ns = 0;
/* Turns of the spin before it is given up: 8 M turns of some 25 ns are 200 ms. */
#define TURNS_MAX (1 << 23)

static long spin(u32 turn, u64 *until)
{
	return bpf_ktime_get_ns() >= *until;
}

/* Returns how long it took, microseconds, by its own clock. */
SEC("tc")
int stand_still(struct __sk_buff *skb)
{
	u64 began = bpf_ktime_get_ns(), until = began + pause_ns;

	bpf_loop(TURNS_MAX, spin, &until, 0);
	return (bpf_ktime_get_ns() - began) / 1000;
}

char LICENSE[] SEC("license") = "GPL";
