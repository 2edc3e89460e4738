// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Who else had the bed's CPUs? At each task switch on a CPU of the bed: how long did a task that is
 * neither idle nor the bed's run, without a break? A router's CPU that compiled something for 3 ms
 * loses frames that are not the router's fault; a tester's CPU leaves slots unsent that it could send.
 * Sees no frame, so what it says of a trial is blind to the trial's loss.
 * Costs about 50 ns a switch; a busy DUT hardly switches.
 *
 * The router's own tasks are counted apart: those of its network namespace, and on its CPUs the kernel's
 * workers, NAPI threads and ksoftirqd. Their time belongs to what the router does.
 *
 * Not every switch is seen: some kernels leave out those from idle, and those from some tasks. So who has a CPU is
 * also looked at when one of its timers expires, the machine watch's for one (watch.bpf.c: once a millisecond). A task
 * that came or went unseen is taken to have done so halfway between two looks.
 *
 * When another task goes than the one that came, the scheduler's own account of its slice is taken. Real-time tasks
 * have none; one that was no real-time task before shows a slice that began in that life: whatever it says, nobody ran
 * for longer than since the last look, or the clearing.
 */
#include "../base.h"
#include "../net_device.h"
#include "scheduler_clock.h"
#include <bpf/bpf_tracing.h>

#define COMM_OCTETS 16
/* include/linux/sched.h */
#define PF_WQ_WORKER 0x00000020
#define PF_KTHREAD 0x00200000

struct nsproxy {
	struct net *net_ns;
} __attribute__((preserve_access_index));

struct sched_entity {
	u64 exec_start;
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
	u8 longest_comm[COMM_OCTETS]; /* whose the longest was */
};

/* Counts of one CPU. */
struct others_cpu {
	u64 watched;    /* written by user space: WATCHED, DUT */
	u64 cleared_ns; /* written by user space: what was before does not count */
	struct had others;
	struct had router; /* the router's own tasks */
	u64 stretches; /* long times of others' since it was cleared */
};

/* Long times of others' kept of each CPU: the last so many. */
#define STRETCHES_MAX 4096
/* A shorter turn is no disturbance; its time counts in total_ns. */
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
	__type(value, struct others_cpu);
} cpu_use SEC(".maps");

/*
 * Who came to a CPU at the last switch seen, when, and whose it is: a task that ends has no namespace any more when it
 * goes. Its own map: clearing the counts forgets nobody.
 */
struct others_came {
	u64 pid;
	u64 ns;
	u64 whose;
	u64 seen_ns; /* last seen on the CPU */
	char comm[COMM_OCTETS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CPUS_MAX);
	__type(key, u32);
	__type(value, struct others_came);
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

static __always_inline void note_stretch(struct others_cpu *c, u32 cpu, u64 from, u64 to)
{
	u32 place = cpu * STRETCHES_MAX + (c->stretches & (STRETCHES_MAX - 1));
	struct stretch *stretch;

	if (to - from < STRETCH_NS)
		return;
	stretch = bpf_map_lookup_elem(&stretches, &place);
	if (!stretch)
		return;
	stretch->from_ns = from;
	stretch->to_ns = to;
	c->stretches++;
}

/* A task had the CPU from one moment to another; what was before the clearing does not count. */
static __always_inline void count(struct others_cpu *c, u32 cpu, u64 owner, const char *comm, u64 from, u64 to)
{
	struct had *had = owner == ROUTERS ? &c->router : &c->others;

	if (from < c->cleared_ns)
		from = c->cleared_ns;
	if (owner == TESTERS || from >= to)
		return;
	had->total_ns += to - from;
	if (to - from > had->longest_ns) {
		had->longest_ns = to - from;
		__builtin_memcpy(had->longest_comm, comm, COMM_OCTETS);
	}
	if (owner == OTHERS)
		note_stretch(c, cpu, from, to);
}

/* When the task that was last seen on the CPU left it, unseen, another being there by now. */
static __always_inline u64 left_ns(const struct others_came *at, u64 now)
{
	return at->seen_ns + (now - at->seen_ns) / 2;
}

static __always_inline void come(struct others_came *at, const struct task_struct *task, u64 watched, u64 ns, u64 now)
{
	at->pid = (u32)task->pid;
	at->ns = ns;
	at->whose = whose(task, watched);
	at->seen_ns = now;
	__builtin_memcpy(at->comm, task->comm, COMM_OCTETS);
}

static __always_inline u64 slice_ns(const struct task_struct *task)
{
	u64 before = task->se.prev_sum_exec_runtime, after = task->se.sum_exec_runtime;

	/* Both are read before the branch: the verifier refuses loads that the compiler has merged. */
	asm volatile("" : "+r"(before), "+r"(after));
	return before && after > before ? after - before : 0;
}

/* A task that goes was just accounted for. The idle task is not, on all kernels. */
static __always_inline void note_clock(u32 cpu, const struct task_struct *prev, u64 now)
{
	u64 *ahead = prev->pid ? bpf_map_lookup_elem(&ahead_ns, &cpu) : NULL;

	if (ahead)
		*ahead = now - prev->se.exec_start;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switched, _Bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct others_cpu *c = bpf_map_lookup_elem(&cpu_use, &cpu);
	struct others_came *at = bpf_map_lookup_elem(&came, &cpu);
	u64 now, left, slice;

	if (!c || !at || !c->watched)
		return 0;
	now = bpf_ktime_get_ns();
	note_clock(cpu, prev, now);
	if (at->pid == (u32)prev->pid) {
		/* Its name may have changed since: it has begun another program. */
		count(c, cpu, at->whose, prev->comm, at->ns, now);
	} else {
		slice = slice_ns(prev);
		left = left_ns(at, now);
		if (slice > now - at->seen_ns)
			slice = now - at->seen_ns;
		if (slice > now - left)
			left = now - slice;
		count(c, cpu, at->whose, at->comm, at->ns, left);
		count(c, cpu, whose(prev, c->watched), prev->comm, now - slice, now);
	}
	come(at, next, c->watched, now, now);
	return 0;
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(looked)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct others_cpu *c = bpf_map_lookup_elem(&cpu_use, &cpu);
	struct others_came *at = bpf_map_lookup_elem(&came, &cpu);
	const struct task_struct *task;
	u64 now, left;

	if (!c || !at || !c->watched)
		return 0;
	task = bpf_get_current_task_btf();
	now = bpf_ktime_get_ns();
	if (at->pid == (u32)task->pid) {
		at->seen_ns = now;
		return 0;
	}
	left = left_ns(at, now);
	count(c, cpu, at->whose, at->comm, at->ns, left);
	come(at, task, c->watched, left, now);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
