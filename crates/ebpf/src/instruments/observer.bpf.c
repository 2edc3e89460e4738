// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What CPUs do while we only look: their time by kind of work, and the polls of the network stack. Changes nothing that
 * it sees. Costs about 50 ns at each end of a soft interrupt and each task switch.
 *
 * All time belongs to a kind, so the kinds sum to the time that passed. Hard interrupts count as what they interrupt.
 * Not every task switch is seen on every kernel (other_tasks.bpf.c). So what ran is asked of the kernel at each event,
 * the expiry of a timer included.
 */
#include "../base.h"
#include "../net_device.h"
#include <bpf/bpf_tracing.h>

#define CPUS_MAX 1024
#define COMM_OCTETS 16
/* include/linux/sched.h */
#define PF_KTHREAD 0x00200000
/* include/linux/sched/prio.h: tasks below are real-time or deadline tasks. */
#define MAX_RT_PRIO 100
/* include/linux/interrupt.h */
#define NET_TX_SOFTIRQ 2
#define NET_RX_SOFTIRQ 3

struct sched_entity {
	u64 sum_exec_runtime;
	u64 prev_sum_exec_runtime;
} __attribute__((preserve_access_index));

struct task_struct {
	unsigned int flags;
	int pid;
	int prio;
	char comm[COMM_OCTETS];
	struct sched_entity se;
} __attribute__((preserve_access_index));

/* Kinds of work. */
#define IDLE 0
#define NET_SOFTIRQ 1
#define OTHER_SOFTIRQ 2
#define NET_THREAD 3
#define OTHER_TASK 4

/* One CPU since user space cleared it. */
struct observed_cpu {
	u64 watched;
	u64 since_ns;	/* the last event */
	u64 running;	/* the kind since then */
	u64 idle_ns;
	u64 net_softirq_ns;
	u64 other_softirq_ns;
	u64 net_thread_ns;
	u64 other_task_ns;
	u64 polls;
	u64 polled;	/* frames */
	u64 device_polled;	/* those among them that a device of the namespace gave */
};

struct napi_struct {
	struct net_device *dev;
} __attribute__((preserve_access_index));

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CPUS_MAX);
	__type(key, u32);
	__type(value, struct observed_cpu);
} cpus SEC(".maps");

/* Inode number of the network namespace whose devices are told apart. */
const volatile u32 netns = 0;

static __always_inline struct observed_cpu *here(void)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct observed_cpu *o = bpf_map_lookup_elem(&cpus, &cpu);

	return o && o->watched ? o : 0;
}

static __always_inline u64 kind_of(const struct task_struct *task)
{
	if (!task->pid)
		return IDLE;
	if (!(task->flags & PF_KTHREAD))
		return OTHER_TASK;
	switch (bpf_ntohl(*(const u32 *)task->comm)) {
	case 0x6e617069: /* napi/ */
	case 0x6370756d: /* cpumap/ */
	case 0x6261636b: /* backlog_napi/ */
		return NET_THREAD;
	case 0x6b736f66: /* ksoftirqd/ */
		return OTHER_SOFTIRQ;
	}
	return OTHER_TASK;
}

static __always_inline void add(struct observed_cpu *o, u64 kind, u64 ns)
{
	if (kind == IDLE)
		o->idle_ns += ns;
	else if (kind == NET_SOFTIRQ)
		o->net_softirq_ns += ns;
	else if (kind == OTHER_SOFTIRQ)
		o->other_softirq_ns += ns;
	else if (kind == NET_THREAD)
		o->net_thread_ns += ns;
	else
		o->other_task_ns += ns;
}

/*
 * `kind` ran until now; `next` runs from now on. If it is not the kind that came at the last event, a switch
 * between them was not seen: the kind had `slice_ns` of what passed, or half of it where nobody knows (0).
 */
static __always_inline void pass(struct observed_cpu *o, u64 kind, u64 slice_ns, u64 next)
{
	u64 now = bpf_ktime_get_ns(), passed = now > o->since_ns ? now - o->since_ns : 0, own = passed;

	if (kind != o->running && slice_ns < passed)
		own = slice_ns ? slice_ns : passed / 2;
	add(o, kind, own);
	add(o, o->running, passed - own);
	o->since_ns = now;
	o->running = next;
}

static __always_inline u64 soft(unsigned int vec_nr)
{
	return vec_nr == NET_RX_SOFTIRQ || vec_nr == NET_TX_SOFTIRQ ? NET_SOFTIRQ : OTHER_SOFTIRQ;
}

/*
 * How long a task ran since it came, by the scheduler's account. A real-time task has none: what it shows is left
 * from a time when it was no real-time task.
 */
static __always_inline u64 slice_ns(const struct task_struct *task)
{
	u64 before = task->se.prev_sum_exec_runtime, after = task->se.sum_exec_runtime;
	int prio = task->prio;

	/* All are read before the branch: the verifier refuses loads that the compiler has merged. */
	asm volatile("" : "+r"(before), "+r"(after), "+r"(prio));
	return prio >= MAX_RT_PRIO && before && after > before ? after - before : 0;
}

static __always_inline u64 current_kind(void)
{
	return kind_of(bpf_get_current_task_btf());
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(entered, unsigned int vec_nr)
{
	struct observed_cpu *o = here();

	if (o)
		pass(o, current_kind(), 0, soft(vec_nr));
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(exited, unsigned int vec_nr)
{
	struct observed_cpu *o = here();

	if (o)
		pass(o, soft(vec_nr), 0, current_kind());
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switched, _Bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct observed_cpu *o = here();

	if (o)
		pass(o, kind_of(prev), slice_ns(prev), kind_of(next));
	return 0;
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(looked)
{
	struct observed_cpu *o = here();
	u64 kind;

	if (!o)
		return 0;
	kind = o->running == NET_SOFTIRQ || o->running == OTHER_SOFTIRQ ? o->running : current_kind();
	pass(o, kind, 0, kind);
	return 0;
}

SEC("tp_btf/napi_poll")
int BPF_PROG(polled, struct napi_struct *napi, int work, int budget)
{
	/* On each CPU, watched or not: so the part of those watched is known. */
	struct net_device *dev = napi->dev;
	u32 cpu = bpf_get_smp_processor_id();
	struct observed_cpu *o = bpf_map_lookup_elem(&cpus, &cpu);

	if (!o)
		return 0;
	o->polls++;
	if (work <= 0)
		return 0;
	o->polled += work;
	/* A veth, a tunnel and the backlog have no device below them. */
	if (dev && dev->dev.parent && dev->nd_net.net->ns.inum == netns)
		o->device_polled += work;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
