// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Who else had the bed's CPUs? At each task switch on a CPU of the bed: how long did a task that is
 * neither idle nor the bed's run, without a break? A router's CPU that compiled something for 3 ms
 * loses frames that are not the router's fault; a tester's CPU leaves slots unsent that it could send. Sees no frame, so what it says of a trial is blind to the trial's loss.
 * Costs about 50 ns a switch; a busy DUT hardly switches.
 *
 * The router's own tasks are counted apart: those of its network namespace, and on its CPUs the kernel's
 * workers, NAPI threads and ksoftirqd. Their time belongs to what the router does.
 *
 * Not every switch is seen (a kernel may leave out those from idle), so the time between two of them
 * counts only when the task that goes is the one that came. Else the scheduler's own account of the
 * task's slice is taken. Real-time tasks have none; one that was no real-time task before shows a slice that
 * began in that life: whatever it says, nobody ran for longer than since the last switch seen, or the clearing.
 */
#include "../base.h"
#include "../net_device.h"
#include <bpf/bpf_tracing.h>

#define CPUS_MAX 1024

#define COMM_OCTETS 16
/* include/linux/sched.h */
#define PF_WQ_WORKER 0x00000020
#define PF_KTHREAD 0x00200000

struct nsproxy {
	struct net *net_ns;
} __attribute__((preserve_access_index));

struct sched_entity {
	u64 sum_exec_runtime;
	u64 prev_sum_exec_runtime;
} __attribute__((preserve_access_index));

struct task_struct {
	unsigned int flags;
	int pid;
	int tgid;
	char comm[COMM_OCTETS];
	struct sched_entity se;
	struct nsproxy *nsproxy;
} __attribute__((preserve_access_index));

/* What some tasks had of a CPU. */
struct had {
	u64 longest_ns;
	u64 total_ns;
	char longest_comm[COMM_OCTETS]; /* whose the longest was */
};

/* Counts of one CPU. Read as u64 words; the order is fixed by crowd.rs. */
struct crowd_cpu {
	u64 watched;    /* written by user space: WATCHED, DUT */
	u64 cleared_ns; /* written by user space: what was before does not count */
	struct had others;
	struct had router; /* the router's own tasks */
	u64 stretches; /* long times of others' since it was cleared */
};

/* Long times of others' kept of each CPU: the last so many. */
#define STRETCHES_MAX 256
/* A shorter time changes no window by more than its share. */
#define STRETCH_NS 400000

struct stretch {
	u64 from_ns;
	u64 to_ns;
};

/* Sized before loading: STRETCHES_MAX for each CPU up to the highest of the bed. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, STRETCHES_MAX);
	__type(key, u32);
	__type(value, struct stretch);
} stretches SEC(".maps");

/* Bits of `watched`: a CPU of the bed; one of the DUT's. */
#define WATCHED 1
#define DUT 2

/* Whose a task is. */
#define TESTERS 0 /* or idle, or a thread whose time is counted as the DUT's busy time */
#define OTHERS 1
#define ROUTERS 2

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CPUS_MAX);
	__type(key, u32);
	__type(value, struct crowd_cpu);
} crowded SEC(".maps");

/*
 * Who came to a CPU at the last switch seen, when, and whose it is: a task that ends has no namespace any more when it
 * goes. Its own map: clearing the counts forgets nobody.
 */
struct crowd_came {
	u64 pid;
	u64 ns;
	u64 whose;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CPUS_MAX);
	__type(key, u32);
	__type(value, struct crowd_came);
} came SEC(".maps");

/* The tester itself: all threads of this process. */
const volatile u32 own_tgid = 0;

/* Inode number of the DUT's network namespace; 0: the DUT has none here. */
const volatile u32 dut_netns = 0;

/* Kernel threads by id, with whose they are. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, u32);
} kthreads SEC(".maps");

static __always_inline u64 whose(const struct task_struct *task, u64 watched)
{
	u32 pid = task->pid, *known, inum;

	if (!pid || task->tgid == own_tgid)
		return TESTERS;
	known = bpf_map_lookup_elem(&kthreads, &pid);
	if (known)
		return *known;
	if (task->flags & PF_KTHREAD) {
		/* "napi" in the first four octets: a NAPI instance that somebody gave a thread. */
		int works = task->flags & PF_WQ_WORKER || *(const u32 *)task->comm == bpf_htonl(0x6e617069);

		return works && watched & DUT ? ROUTERS : OTHERS;
	}
	inum = task->nsproxy->net_ns->ns.inum;
	return inum && inum == dut_netns ? ROUTERS : OTHERS;
}

static __always_inline void add(struct had *had, u64 ran, const struct task_struct *task)
{
	had->total_ns += ran;
	if (ran > had->longest_ns) {
		had->longest_ns = ran;
		__builtin_memcpy(had->longest_comm, task->comm, COMM_OCTETS);
	}
}

static __always_inline void note_stretch(struct crowd_cpu *c, u32 cpu, u64 ran, u64 now)
{
	u32 place = cpu * STRETCHES_MAX + (c->stretches & (STRETCHES_MAX - 1));
	struct stretch *stretch;

	if (ran < STRETCH_NS)
		return;
	stretch = bpf_map_lookup_elem(&stretches, &place);
	if (!stretch)
		return;
	stretch->from_ns = now - ran;
	stretch->to_ns = now;
	c->stretches++;
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
	u64 now, from, owner, ran;

	if (!c || !at || !c->watched)
		return 0;
	now = bpf_ktime_get_ns();
	from = at->ns > c->cleared_ns ? at->ns : c->cleared_ns;
	owner = at->pid == (u32)prev->pid ? at->whose : whose(prev, c->watched);
	if (owner != TESTERS && now > from) {
		ran = ran_ns(at, prev, now - from);
		add(owner == ROUTERS ? &c->router : &c->others, ran, prev);
		if (owner == OTHERS)
			note_stretch(c, cpu, ran, now);
	}
	at->pid = (u32)next->pid;
	at->ns = now;
	at->whose = whose(next, c->watched);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
