// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Who else had the bed's CPUs? At each task switch on a CPU of the bed: how long did a task that is
 * neither idle nor the bed's run, without a break? A router's CPU that compiled something for 3 ms
 * loses frames that are not the router's fault; a tester's CPU leaves slots unsent that it could send. Sees no frame, so what it says of a trial is blind to the trial's loss.
 * Costs about 50 ns a switch; a busy DUT hardly switches.
 *
 * Not every switch is seen (a kernel may leave out those from idle), so the time between two of them
 * counts only when the task that goes is the one that came. Else the scheduler's own account of the
 * task's slice is taken. Real-time tasks have none; one that was no real-time task before shows a slice that
 * began in that life: whatever it says, nobody ran for longer than since the last switch seen, or the clearing.
 */
#include "../base.h"
#include <bpf/bpf_tracing.h>

#define CPUS_MAX 1024

#define COMM_OCTETS 16

struct sched_entity {
	u64 sum_exec_runtime;
	u64 prev_sum_exec_runtime;
} __attribute__((preserve_access_index));

struct task_struct {
	int pid;
	int tgid;
	char comm[COMM_OCTETS];
	struct sched_entity se;
} __attribute__((preserve_access_index));

/* Counts of one CPU. Read as u64 words; the order is fixed by crowd.rs. */
struct crowd_cpu {
	u64 watched;    /* written by user space: a CPU of the bed */
	u64 cleared_ns; /* written by user space: what was before does not count */
	u64 longest_ns;
	u64 total_ns;
	char longest_comm[COMM_OCTETS]; /* whose the longest was */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CPUS_MAX);
	__type(key, u32);
	__type(value, struct crowd_cpu);
} crowded SEC(".maps");

/* Who came to a CPU at the last switch seen, and when. Its own map: clearing the counts forgets nobody. */
struct crowd_came {
	u64 pid;
	u64 ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CPUS_MAX);
	__type(key, u32);
	__type(value, struct crowd_came);
} came SEC(".maps");

/* The tester itself: all threads of this process. */
const volatile u32 own_tgid = 0;

/* The bed's other tasks: kernel threads. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, u32);
} own SEC(".maps");

static __always_inline int is_own(const struct task_struct *task)
{
	u32 pid = task->pid;

	return !pid || task->tgid == own_tgid || bpf_map_lookup_elem(&own, &pid);
}

static __always_inline u64 ran_ns(const struct crowd_came *at, const struct task_struct *prev, u64 since)
{
	u64 before = prev->se.prev_sum_exec_runtime, after = prev->se.sum_exec_runtime;
	u64 slice;

	/* Both are read before the branch: the verifier refuses loads that the compiler has merged. */
	asm volatile("" : "+r"(before), "+r"(after));
	if (at->pid == (u32)prev->pid)
		return since;
	slice = before ? after - before : 0;
	return slice < since ? slice : since;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switched, _Bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct crowd_cpu *c = bpf_map_lookup_elem(&crowded, &cpu);
	struct crowd_came *at = bpf_map_lookup_elem(&came, &cpu);
	u64 now, from, ran;

	if (!c || !at || !c->watched)
		return 0;
	now = bpf_ktime_get_ns();
	from = at->ns > c->cleared_ns ? at->ns : c->cleared_ns;
	if (!is_own(prev) && now > from) {
		ran = ran_ns(at, prev, now - from);
		c->total_ns += ran;
		if (ran > c->longest_ns) {
			c->longest_ns = ran;
			__builtin_memcpy(c->longest_comm, prev->comm, COMM_OCTETS);
		}
	}
	at->pid = (u32)next->pid;
	at->ns = now;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
