// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The machine watch: a timer on every CPU of the bed, once a millisecond; the longest time between two
 * of its ticks is the longest the CPU stood still, whoever took it away (a hypervisor, firmware, code
 * with interrupts off). It sees no frame, so what it says of a trial is blind to the trial's loss.
 * Costs about a microsecond a tick: 0.1 % of the CPU.
 *
 * The timer's own function runs in a soft interrupt, behind those of the network stack: a router that forwards in soft
 * interrupts delays it by its own work. Where the hard interrupt finds the CPU at that work, the tick counts from then.
 *
 * A cpu-clock perf event will not do: the kernel throttles it on a CPU that idles without its tick,
 * and every pause would look like a stall.
 */
#include "../base.h"
#include <bpf/bpf_tracing.h>
#include <linux/errno.h>

#define CLOCK_MONOTONIC 1
/* BPF_F_TIMER_CPU_PIN (Linux 6.7): younger than the kernel headers of Debian 12. */
#define TIMER_CPU_PIN (1ULL << 1)
#define CPUS_MAX 1024
/* Stalls kept of each CPU since the watch was cleared: the last so many. */
#define STALLS_MAX 4096

/* One CPU. */
struct watch_cpu {
	struct bpf_timer timer;
	u64 last_ns;
	u64 longest_ns;
	u64 ticks;
	u64 epoch;
	u64 stalls;	/* since the watch was cleared */
};

/* The two ticks between which a CPU stood still. */
struct watch_stall {
	u64 from_ns;
	u64 to_ns;
};

const volatile u64 period_ns = 1000000;
/* A longer time between two ticks is a stall. */
const volatile u64 stall_ns = 1500000;

/* Sized before loading: STALLS_MAX for each CPU up to the highest watched. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, STALLS_MAX);
	__type(key, u32);
	__type(value, struct watch_stall);
} stalls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CPUS_MAX);
	__type(key, u32);
	__type(value, struct watch_cpu);
} watched SEC(".maps");

/* Counted up by user space: what was seen in an older epoch is forgotten at the next tick. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} epoch SEC(".maps");

/* A CPU's soft interrupts of the network stack. */
struct net_softirq {
	u64 entered_ns;	/* when one began; 0: none runs */
	u64 raised_ns;	/* when a soft timer's hard interrupt last came while one ran */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CPUS_MAX);
	__type(key, u32);
	__type(value, struct net_softirq);
} net_softirqs SEC(".maps");

static void note_stall(u32 cpu, struct watch_cpu *w, u64 from_ns, u64 to_ns)
{
	u32 place = cpu * STALLS_MAX + (w->stalls & (STALLS_MAX - 1));
	struct watch_stall *stall = bpf_map_lookup_elem(&stalls, &place);

	if (!stall)
		return;
	stall->from_ns = from_ns;
	stall->to_ns = to_ns;
	w->stalls++;
}

static int tick(void *map, u32 *cpu, struct watch_cpu *w)
{
	u32 zero = 0;
	u64 *now_epoch = bpf_map_lookup_elem(&epoch, &zero), now = bpf_ktime_get_ns(), came = now, gap;
	struct net_softirq *net = bpf_map_lookup_elem(&net_softirqs, cpu);

	if (net && net->raised_ns > w->last_ns)
		came = net->raised_ns;
	gap = w->last_ns ? came - w->last_ns : 0;
	if (now_epoch && w->epoch != *now_epoch) {
		w->epoch = *now_epoch;
		w->longest_ns = 0;
		w->ticks = 0;
		w->stalls = 0;
	} else {
		if (gap > w->longest_ns)
			w->longest_ns = gap;
		if (gap > stall_ns)
			note_stall(*cpu, w, w->last_ns, came);
	}
	w->last_ns = now;
	w->ticks++;
	bpf_timer_start(&w->timer, period_ns, TIMER_CPU_PIN);
	return 0;
}

/* include/linux/interrupt.h */
#define NET_TX_SOFTIRQ 2
#define NET_RX_SOFTIRQ 3
#define HRTIMER_SOFTIRQ 8
/* net_rx_action gives up after two jiffies (netdev_budget_usecs). */
#define NET_SOFTIRQ_MAX_NS 20000000

static __always_inline struct net_softirq *here(void)
{
	u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&net_softirqs, &cpu);
}

static __always_inline int serve(unsigned int vec_nr, u64 entered_ns)
{
	struct net_softirq *net;

	if (vec_nr != NET_RX_SOFTIRQ && vec_nr != NET_TX_SOFTIRQ)
		return 0;
	net = here();
	if (net)
		net->entered_ns = entered_ns;
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(entered, unsigned int vec_nr)
{
	return serve(vec_nr, bpf_ktime_get_ns());
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(exited, unsigned int vec_nr)
{
	return serve(vec_nr, 0);
}

SEC("tp_btf/softirq_raise")
int BPF_PROG(raised, unsigned int vec_nr)
{
	struct net_softirq *net;
	u64 now;

	if (vec_nr != HRTIMER_SOFTIRQ)
		return 0;
	net = here();
	now = bpf_ktime_get_ns();
	/* None runs for so long: its end was not seen. */
	if (net && now - net->entered_ns < NET_SOFTIRQ_MAX_NS)
		net->raised_ns = now;
	return 0;
}

/* Run on each CPU to watch, again until it returns 0; else an error number. */
SEC("tc")
int start(struct __sk_buff *skb)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct watch_cpu *w = bpf_map_lookup_elem(&watched, &cpu);
	long error;

	if (!w)
		return EINVAL;
	error = bpf_timer_init(&w->timer, &watched, CLOCK_MONOTONIC);
	/* Where an earlier run failed behind its bpf_timer_init, the timer is initialised and has not started. */
	if (!error || error == -EBUSY)
		error = bpf_timer_set_callback(&w->timer, tick);
	if (!error)
		error = bpf_timer_start(&w->timer, period_ns, TIMER_CPU_PIN);
	return -error;
}

char LICENSE[] SEC("license") = "GPL";
