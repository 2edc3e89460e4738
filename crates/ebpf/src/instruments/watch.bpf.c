// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The machine watch: a timer on every CPU of the bed, once a millisecond; the longest time between two
 * of its ticks is the longest the CPU stood still, whoever took it away (a hypervisor, firmware, code
 * with interrupts off). It sees no frame, so what it says of a trial is blind to the trial's loss.
 * Costs one to two and a half microseconds a tick: 0.1 to 0.25 % of the CPU.
 *
 * Each tick also times a fixed piece of work. A hypervisor's CPU can tick in time and yet take several times as long for
 * it, for tens of milliseconds. Such slow times are kept beside the stalls.
 *
 * The timer's own function runs in a soft interrupt, behind those of the network stack, and not while a thread has soft
 * interrupts off. A router delays it by its own work: in soft interrupts, a thread's poll of 64 frames, or what its tasks
 * and the kernel's workers do for it (nft, IPsec, conntrack). Where the hard interrupt finds the CPU at that work, the tick
 * counts from then. How long tasks and workers have the CPU is seen by the watch of other tasks.
 *
 * The tick on a CPU of the tester writes some cache lines, and that on a CPU of the DUT times how long it reads them: how
 * far apart the two are. A hypervisor moves them about within a trial, and a frame goes from one to the other. The
 * latter also keeps how long the work took: another guest on the core's other thread lengthens it. Last it notes
 * how long the DUT's threads have run.
 *
 * A cpu-clock perf event will not do: the kernel throttles it on a CPU that idles without its tick,
 * and every pause would look like a stall.
 */
#include "../base.h"
#include "receiver.h"
#include "busy.h"
#include <bpf/bpf_tracing.h>
#include <linux/errno.h>

#define CLOCK_MONOTONIC 1
/* BPF_F_TIMER_CPU_PIN (Linux 6.7): younger than the kernel headers of Debian 12. */
#define TIMER_CPU_PIN (1ULL << 1)
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
	u64 slow_times;	/* the same */
	u64 worked;	/* what the work came to, so that it is done */
	u64 works;	/* so far, for the first usual one */
	u64 usual_fp;	/* a quarter of the pieces of work that are not slow take less, ns << USUAL_SHIFT */
	u64 slow_from_ns;	/* the first slow tick; 0: no slow time is under way */
	u64 slow_to_ns;	/* 0: there was only one */
};

#define USUAL_SHIFT 10
/* The usual work is the least of so many to begin with. */
#define WORKS_FIRST 64
/* What lasts longer is another state of the machine, not a slow time: the usual work begins anew. */
#define SLOW_MAX_NS 500000000

/* The two ticks between which a CPU stood still. */
struct watch_stall {
	u64 from_ns;
	u64 to_ns;
};

const volatile u64 period_ns = 1000000;
/* A longer time between two ticks is a stall. */
const volatile u64 stall_ns = 1500000;
/* A tick is slow if its piece of work takes over so many times the usual; 0: none is. Two in a row begin a slow time. */
const volatile u64 slow_factor = 0;
/* It ends so long after the last slow tick. The CPU's speed comes back step by step. */
const volatile u64 slow_tail_ns = 0;
/* Planted by a test: each timed piece of work is four. */
u64 planted_slow = 0;
/* The inode number of the DUT's network namespace; 0: none that we get at. */
u64 dut_netns = 0;

/* Both are sized before loading: STALLS_MAX for each CPU up to the highest watched. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, STALLS_MAX);
	__type(key, u32);
	__type(value, struct watch_stall);
} stalls SEC(".maps"), slow_times SEC(".maps");

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

/* A CPU's soft interrupts of the network stack, and the DUT's threads. */
struct net_softirq {
	u64 entered_ns;	/* when one began; 0: none runs */
	u64 raised_ns;	/* when a soft timer's hard interrupt last came while one of both ran, or a task of the DUT's */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CPUS_MAX);
	__type(key, u32);
	__type(value, struct net_softirq);
} net_softirqs SEC(".maps");

/* CPUs between which lines go; CPUS_MAX: none. */
const volatile u32 writing_cpu = CPUS_MAX;
const volatile u32 reading_cpu = CPUS_MAX;

/* Lines read in one tick, each of which says which comes next, so that no two are fetched at once. */
#define LINES 8
/* Something else had the CPU while it read, or while it worked. */
#define READ_MAX_NS 20000
#define WORK_MAX_NS 2000

/* Far enough apart that none is fetched with another. */
struct watch_line {
	u64 next;
	u64 turn;	/* counted up when it is written */
	u64 room[30];
};

/* The last is the reader's own: it touches it first, so that the page's address is at hand. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LINES + 1);
	__type(key, u32);
	__type(value, struct watch_line);
} lines SEC(".maps");

/* Readings in a window of (1 << WINDOW_SHIFT) ns. */
struct watch_apart {
	u64 window;
	u64 readings;
	u64 took_ns;
	u64 worked_ns;	/* for as many pieces of work */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WINDOWS_MAX);
	__type(key, u32);
	__type(value, struct watch_apart);
} apart SEC(".maps");

static void write_lines(void)
{
	/* Unrolled: the verifier traces no loop in a timer's function. */
#pragma unroll
	for (u32 at = 0; at < LINES; at++) {
		u32 place = at;
		struct watch_line *line = bpf_map_lookup_elem(&lines, &place);

		if (!line)
			return;
		line->next = (at * 5 + 3) % LINES;
		line->turn++;
	}
}

/* Four chains of operations, enough to fill a core; 0.1 to 0.2 us. No word of memory, so that the router's own use of the caches
 * does not lengthen it; it is not inlined, so that its first run brings its instructions for the second, which is timed. */
#define STEPS 64

static __noinline u64 work(u64 seed)
{
	u64 a = seed, b = seed ^ 1, c = seed ^ 2, d = seed ^ 3;

#pragma unroll
	for (int step = 0; step < STEPS; step++) {
		a ^= a << 13, b ^= b << 13, c ^= c << 13, d ^= d << 13;
		a ^= a >> 7, b ^= b >> 7, c ^= c >> 7, d ^= d >> 7;
		a ^= a << 17, b ^= b << 17, c ^= c << 17, d ^= d << 17;
	}
	return a + b + c + d;
}

/* How long a piece of work takes. */
static u64 time_work(struct watch_cpu *w)
{
	/* Read before, because it may have to come from memory. */
	u64 began, planted = *(volatile u64 *)&planted_slow;

	w->worked = work(w->ticks);
	began = bpf_ktime_get_ns();
	w->worked = work(began);
	if (planted) {
		w->worked = work(w->worked);
		w->worked = work(w->worked);
		w->worked = work(w->worked);
	}
	return bpf_ktime_get_ns() - began;
}

static void read_lines(u64 worked)
{
	u32 at = LINES, place;
	volatile struct watch_line *own = bpf_map_lookup_elem(&lines, &at), *line;
	struct watch_apart *w;
	u64 began, took, turn;

	if (!own)
		return;
	turn = own->turn;
	began = bpf_ktime_get_ns();
	at = 0;
#pragma unroll
	for (int n = 0; n < LINES; n++) {
		line = bpf_map_lookup_elem(&lines, &at);
		if (!line)
			return;
		at = line->next % LINES;
		own->turn = line->turn;
	}
	took = bpf_ktime_get_ns() - began;
	place = (began >> WINDOW_SHIFT) % WINDOWS_MAX;
	w = bpf_map_lookup_elem(&apart, &place);
	/* Nobody wrote them since they were last read: they are here already. */
	if (!w || own->turn == turn || took > READ_MAX_NS || worked > WORK_MAX_NS)
		return;
	if (w->window != began >> WINDOW_SHIFT) {
		w->window = began >> WINDOW_SHIFT;
		w->readings = 0;
		w->took_ns = 0;
		w->worked_ns = 0;
	}
	w->readings++;
	w->took_ns += took;
	w->worked_ns += worked;
}

static __always_inline void note(void *ring, u32 cpu, u64 number, u64 from_ns, u64 to_ns)
{
	u32 place = cpu * STALLS_MAX + (number & (STALLS_MAX - 1));
	struct watch_stall *stall = bpf_map_lookup_elem(ring, &place);

	if (!stall)
		return;
	stall->from_ns = from_ns;
	stall->to_ns = to_ns;
}

/* Two slow pieces of work in a row, because an interrupt lengthens a single one. Slow ones do not change the usual one. */
static void note_slow(u32 cpu, struct watch_cpu *w, u64 worked_ns)
{
	u64 worked_fp = worked_ns << USUAL_SHIFT, step = w->usual_fp >> USUAL_SHIFT, begun;

	if (w->works < WORKS_FIRST) {
		w->works++;
		if (!w->usual_fp || worked_fp < w->usual_fp)
			w->usual_fp = worked_fp;
		return;
	}
	if (worked_fp <= slow_factor * w->usual_fp) {
		w->usual_fp += worked_fp < w->usual_fp ? -3 * step : step;
		if (w->last_ns > w->slow_to_ns)
			w->slow_from_ns = 0;
		return;
	}
	if (!w->slow_from_ns) {
		w->slow_from_ns = w->last_ns;
		w->slow_to_ns = 0;
		return;
	}
	begun = w->slow_to_ns != 0;
	w->slow_to_ns = w->last_ns + slow_tail_ns;
	note(&slow_times, cpu, w->slow_times - begun, w->slow_from_ns, w->slow_to_ns);
	/* Whoever reads the count finds what it counts. */
	w->slow_times += !begun;
	if (w->last_ns - w->slow_from_ns > SLOW_MAX_NS) {
		w->works = 0;
		w->usual_fp = 0;
		w->slow_from_ns = 0;
	}
}

static int tick(void *map, u32 *cpu, struct watch_cpu *w)
{
	u32 zero = 0;
	u64 *now_epoch = bpf_map_lookup_elem(&epoch, &zero), now = bpf_ktime_get_ns(), came = now, gap;
	u64 worked;
	struct net_softirq *net = bpf_map_lookup_elem(&net_softirqs, cpu);

	if (net && net->raised_ns > w->last_ns)
		came = net->raised_ns;
	gap = w->last_ns ? came - w->last_ns : 0;
	if (now_epoch && w->epoch != *now_epoch) {
		w->epoch = *now_epoch;
		w->longest_ns = 0;
		w->ticks = 0;
		w->stalls = 0;
		w->slow_times = w->slow_from_ns && w->slow_to_ns > now;
		if (w->slow_times)
			note(&slow_times, *cpu, 0, w->slow_from_ns, w->slow_to_ns);
		else
			w->slow_from_ns = 0;
	} else {
		if (gap > w->longest_ns)
			w->longest_ns = gap;
		if (gap > stall_ns) {
			note(&stalls, *cpu, w->stalls, w->last_ns, came);
			w->stalls++;
		}
	}
	w->last_ns = now;
	w->ticks++;
	worked = time_work(w);
	if (slow_factor)
		note_slow(*cpu, w, worked);
	if (*cpu == writing_cpu)
		write_lines();
	else if (*cpu == reading_cpu) {
		read_lines(worked);
		note_busy(*cpu);
	}
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

/* Threads that do the DUT's work, by their ids: as many as it has queues and CPUs. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, u32);
} dut_threads SEC(".maps");

static __always_inline int is_dut_thread(u32 thread)
{
	return bpf_map_lookup_elem(&dut_threads, &thread) != NULL;
}

/* include/linux/sched.h */
#define PF_WQ_WORKER 0x00000020
#define PF_KTHREAD 0x00200000

static __always_inline int is_dut_task(const struct task_struct *task)
{
	if (task->flags & PF_KTHREAD)
		return task->flags & PF_WQ_WORKER;
	return dut_netns && task->nsproxy->net_ns->ns.inum == dut_netns;
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
	if (net && (now - net->entered_ns < NET_SOFTIRQ_MAX_NS || is_dut_thread(bpf_get_current_pid_tgid()) ||
		    is_dut_task(bpf_get_current_task_btf())))
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
