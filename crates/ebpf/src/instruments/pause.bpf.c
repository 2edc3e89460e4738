// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A CPU that stands still, planted to calibrate the machine watch: on a clock's tick (a cpu-clock perf event, whose
 * timer expires in the hard interrupt) the program spins, and until it returns this CPU takes no other
 * interrupt and runs nothing: what a hypervisor that takes the CPU away, or firmware, looks like from inside.
 */
#include "../base.h"

const volatile u64 pause_ns = 0;
/* Turns of the spin before it is given up: 8 M turns of some 25 ns are 200 ms. */
#define TURNS_MAX (1 << 23)

/* [0] pauses so far, [1] the longest, ns. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, u32);
	__type(value, u64);
} paused SEC(".maps");

static long spin(u32 turn, u64 *until)
{
	return bpf_ktime_get_ns() >= *until;
}

SEC("perf_event")
int stand_still(void *ctx)
{
	u32 zero = 0, one = 1;
	u64 *pauses = bpf_map_lookup_elem(&paused, &zero), *longest = bpf_map_lookup_elem(&paused, &one);
	u64 began = bpf_ktime_get_ns(), until = began + pause_ns, took;

	if (!pauses || !longest)
		return 0;
	bpf_loop(TURNS_MAX, spin, &until, 0);
	took = bpf_ktime_get_ns() - began;
	if (took > *longest)
		*longest = took;
	(*pauses)++;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
