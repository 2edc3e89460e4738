/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How far the monotonic clock is ahead of the scheduler's, by which it accounts for the time of tasks on a CPU. They drift
 * apart where the latter leaves out interrupts or stolen time. The watch of task switches writes it, the machine watch
 * reads it: the map of both is the same one.
 */
#ifndef MPPS_SCHEDULER_CLOCK_H
#define MPPS_SCHEDULER_CLOCK_H

#define CPUS_MAX 1024

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CPUS_MAX);
	__type(key, u32);
	__type(value, u64);
} ahead_ns SEC(".maps");

#endif
