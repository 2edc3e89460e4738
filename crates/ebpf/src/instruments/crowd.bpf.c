// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Who else had the DUT's CPU? At each task switch on a CPU of the DUT: how long did a task that is
 * neither idle nor the DUT's run? A router's CPU that compiled something for 3 ms loses frames that
 * are not the router's fault. Sees no frame, so what it says of a trial is blind to the trial's loss.
 * Costs about 50 ns a switch; a busy DUT hardly switches.
 */
#include "../base.h"
#include <bpf/bpf_tracing.h>

#define CPUS_MAX 1024

struct task_struct {
	int pid;
} __attribute__((preserve_access_index));

/* One CPU. All members u64; the order is fixed by crowd.rs. */
struct crowd_cpu {
	u64 watched;  /* written by user space: a CPU of the DUT */
	u64 since_ns; /* when the other task came; 0: none is here */
	u64 longest_ns;
	u64 total_ns;
	u64 longest_pid;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CPUS_MAX);
	__type(key, u32);
	__type(value, struct crowd_cpu);
} crowded SEC(".maps");

/* The DUT's own tasks. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, u32);
} own SEC(".maps");

static __always_inline int is_own(u32 pid)
{
	return !pid || bpf_map_lookup_elem(&own, &pid);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switched, _Bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct crowd_cpu *c = bpf_map_lookup_elem(&crowded, &cpu);
	u64 now, ran;

	if (!c || !c->watched)
		return 0;
	if (c->since_ns) {
		now = bpf_ktime_get_ns();
		ran = now - c->since_ns;
		c->since_ns = 0;
		c->total_ns += ran;
		if (ran > c->longest_ns) {
			c->longest_ns = ran;
			c->longest_pid = prev->pid;
		}
	}
	if (!is_own(next->pid))
		c->since_ns = bpf_ktime_get_ns();
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
