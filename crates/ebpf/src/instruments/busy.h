/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long the DUT's threads have run and how often they were woken, by the scheduler's own account, at the first and the
 * last tick of each window. The account of a thread that sleeps is complete. That of a thread that runs is as old as the
 * scheduler's last look at it (up to 10 ms at CONFIG_HZ=100), so what it has run since is added.
 */
#ifndef MPPS_BUSY_H
#define MPPS_BUSY_H

#include "../net_device.h"
#include "scheduler_clock.h"

/* Threads of the DUT on its CPU, at most. */
#define THREADS_MAX 4
/* The scheduler looks at a running task more often than that: at each of its ticks (CONFIG_HZ is 100 at least). */
#define SINCE_MAX_NS 11000000

struct sched_entity {
	u64 exec_start;	/* the scheduler's last look, by its clock */
	u64 sum_exec_runtime;
} __attribute__((preserve_access_index));

struct sched_info {
	unsigned long pcount;
} __attribute__((preserve_access_index));

struct nsproxy {
	struct net *net_ns;
} __attribute__((preserve_access_index));

struct task_struct {
	unsigned int flags;
	int pid;
	struct nsproxy *nsproxy;
	struct sched_entity se;
	struct sched_info sched_info;
} __attribute__((preserve_access_index));

/* Linux 6.2; a kernel without them binds no timer to a CPU either, and says so after this is loaded. */
extern struct task_struct *bpf_task_from_pid(int pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *task) __ksym __weak;

/* Ids of the threads; 0: none. */
const volatile u32 threads[THREADS_MAX] = {};

/* The sums at one moment. */
struct busy_mark {
	u64 ns;
	u64 run_ns;
	u64 wakes;
};

/* At the first tick and the last of a window of (1 << WINDOW_SHIFT) ns. */
struct busy_window {
	struct busy_mark first;
	struct busy_mark last;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WINDOWS_MAX);
	__type(key, u32);
	__type(value, struct busy_window);
} busy SEC(".maps");

/* Adds what a thread has had so far; whether it exists. */
static __always_inline int add_thread(u32 thread, u64 ahead, struct busy_mark *mark)
{
	struct task_struct *current = bpf_get_current_task_btf(), *task = bpf_task_from_pid(thread);
	u64 since;

	if (!task)
		return 0;
	mark->run_ns += task->se.sum_exec_runtime;
	mark->wakes += task->sched_info.pcount;
	since = mark->ns - ahead - task->se.exec_start;
	if (current->pid == (int)thread && since < SINCE_MAX_NS)
		mark->run_ns += since;
	bpf_task_release(task);
	return 1;
}

static __always_inline void note_busy(u32 cpu)
{
	struct busy_mark mark = { .ns = bpf_ktime_get_ns() };
	u32 place = (mark.ns >> WINDOW_SHIFT) % WINDOWS_MAX;
	struct busy_window *w = bpf_map_lookup_elem(&busy, &place);
	u64 *ahead = bpf_map_lookup_elem(&ahead_ns, &cpu);

	if (!w || !ahead || !threads[0] || !bpf_ksym_exists(bpf_task_from_pid) || !bpf_ksym_exists(bpf_task_release))
		return;
	/* Unrolled: the verifier traces no loop in a timer's function. */
#pragma unroll
	for (int n = 0; n < THREADS_MAX; n++)
		if (threads[n] && !add_thread(threads[n], *ahead, &mark))
			return;
	if (w->first.ns >> WINDOW_SHIFT != mark.ns >> WINDOW_SHIFT)
		w->first = mark;
	w->last = mark;
}

#endif
