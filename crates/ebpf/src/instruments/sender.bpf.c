// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The sender. User space starts one BPF_PROG_TEST_RUN with live frames a trial; the kernel then calls
 * this program for one page after the other, millions of times a second. The program waits for the slot,
 * writes the whole frame (the DUT had the page before: nothing in it can be trusted) and redirects it
 * to the port. A call costs about 20 ms to set up, hence one a trial and the pace kept in here.
 *
 * The kernel hands a batch of pages on when its last one is served. So a batch has a window: when that is
 * over, the pages left are dropped. No page is dropped to pass the time: it goes back through the lock
 * of the page pool, and the DUT takes that lock for each frame it frees.
 *
 * A slot later than late_max_ns is not made up for. It is counted unsent, and
 * so no load is ever claimed that was not offered.
 */
#include "sender_frame.h"

const volatile struct sender_template templates[DIRECTIONS];
const volatile u32 directions = 1;
const volatile u32 ipv6 = 0;
const volatile u32 tcp = 0;
/* TCP: frames of a flow continue one another's stream (and may be merged), or all stand at its start. */
const volatile u32 tcp_stream = 0;
const volatile u32 flows = 1;
/* Frames a flow lives before a new one takes its place; 0: for ever. */
const volatile u32 flow_length = 0;
/* Frame lengths without FCS, in the order they are sent; one entry: all frames alike. */
const volatile u16 sizes[SIZES_MAX];
const volatile u32 sizes_count = 1;
const volatile u32 size_largest = 60;
/* Frames sent on one reading of the clock at most, where that reading says all of them are due. */
const volatile u32 clock_frames = 1;
/*
 * Varied addresses: entries of the list (0: the template's address is the only one). With bits each entry is
 * the first address of a block, and each lap of the list takes another address of every block.
 */
const volatile u32 dest_count = 0;
const volatile u32 dest_bits = 0;
const volatile u32 dest_seed = 0;

/* In a section of its own: a place known when loading, without a look-up. */
struct sender_state state SEC(".data.state");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MARKS_MAX);
	__type(key, u32);
	__type(value, struct sender_mark);
} marks SEC(".maps");

/* The list of destinations; of the two the one of the family in use is sized before loading. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} dest_ipv4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct dest_address);
} dest_ipv6 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, DIRECTIONS);
	__type(key, u32);
	__type(value, u32);
} ports SEC(".maps");

/*
 * The lap-th offset in a block: a permutation of the numbers of dest_bits bits (each step can be undone),
 * so that no offset comes twice before all have come.
 */
static __always_inline u32 lap_offset(u32 lap)
{
	u32 mask = (u32)((1ULL << dest_bits) - 1), half = (dest_bits + 1) / 2;

	lap = (lap * 0x9e3779b1 + dest_seed) & mask;
	lap ^= lap >> half;
	lap = (lap * 0x85ebca6b + (dest_seed >> 7)) & mask;
	lap ^= lap >> half;
	return lap;
}

/* The next destination; 0 when there is none in the list (cannot be). */
static __always_inline int find_dest(struct frame_fields *f, const struct sender_direction *d)
{
	u32 at = d->dest_at;

	if (ipv6) {
		struct dest_address *far = bpf_map_lookup_elem(&dest_ipv6, &at);

		if (!far)
			return 0;
		f->far = *far;
	} else {
		u32 *far = bpf_map_lookup_elem(&dest_ipv4, &at);

		if (!far)
			return 0;
		f->far.low = *far;
	}
	if (dest_bits)
		f->far.low += lap_offset(d->lap);
	f->dest_sum = address_sum(&f->far);
	return 1;
}

static __always_inline int write_next(struct xdp_md *ctx, u32 way, u32 length, u64 now)
{
	const struct sender_direction *d = &state.direction[way];
	const volatile struct sender_template *t = &templates[way];
	struct frame_fields f = {
		.length = length,
		.host = d->host,
		.port = PORT_FIRST + (u32)d->port,
		/* Each direction has ids of its own: what a port sends back is not taken for the other direction's. */
		.id = state.id | way << WAY_SHIFT,
		.sequence = d->sequence,
		.now = now,
		.dest_sum = t->dest_sum,
	};

	if (dest_count && !state.plain) {
		if (!find_dest(&f, d))
			return 0;
		f.with_dest = 1;
		/* In the second direction it is the source, which then has no offset. */
		if (way)
			f.host = 0;
	}
	if (tcp) {
		u32 payload = length - sizeof(struct ether) - TCP_OCTETS -
			      (ipv6 ? sizeof(struct ipv6) : sizeof(struct ipv4));

		f.position = tcp_stream ? 1 + (u32)d->round * payload : 1;
		return ipv6 ? write_frame(ctx, t, &f, way, 1, 1) : write_frame(ctx, t, &f, way, 0, 1);
	}
	return ipv6 ? write_frame(ctx, t, &f, way, 1, 0) : write_frame(ctx, t, &f, way, 0, 0);
}

static __always_inline void next_dest(struct sender_direction *d)
{
	if (++d->dest_at < dest_count)
		return;
	d->dest_at = 0;
	d->lap++;
}

static __always_inline void next_port(struct sender_direction *d)
{
	if (++d->port < PORT_COUNT)
		return;
	d->port = 0;
	/* The offset stays within the 16 bits of hosts that the network of the tester's port has. */
	if (++d->host == HOST_COUNT)
		d->host = 0;
}

/*
 * Flows take turns. For ever: the same ones, whatever destinations do. With a length: a destination
 * belongs to its flow, and when all have had their frames, as many new ones begin.
 */
static __always_inline void next_flow(struct sender_direction *d)
{
	if (dest_count && !flow_length)
		next_dest(d);
	if (flows > 1 || flow_length)
		next_port(d);
	if (dest_count && flow_length)
		next_dest(d);
	if (++d->flow < flows)
		return;
	d->flow = 0;
	d->round++;
	if (flow_length && d->round == flow_length) {
		d->round = 0;
		d->port_first = d->port;
		d->host_first = d->host;
		d->dest_first = d->dest_at;
		d->lap_first = d->lap;
		return;
	}
	if (flows == 1 && !flow_length)
		return;
	d->port = d->port_first;
	d->host = d->host_first;
	if (dest_count && flow_length) {
		d->dest_at = d->dest_first;
		d->lap = d->lap_first;
	}
}

/* Passes slots without a frame; with two directions every other slot belongs to the second. */
static __always_inline void count_unsent(u64 skip)
{
	u64 second = directions == 2 ? (skip + (state.slot & 1)) >> 1 : 0;

	state.direction[0].unsent += skip - second;
	state.direction[1].unsent += second;
	state.slot += skip;
	state.slot_fp += skip * state.gap_fp;
}

/* Gives up the slots whose time has passed the bound; returns how late the next one is, in ns. */
static __always_inline u64 skip_overdue(u64 now, u64 late)
{
	u64 skip = (((late - state.late_max_ns) << PACE_SHIFT) / state.gap_fp) + 1, due;

	if (skip > state.slots - state.slot)
		skip = state.slots - state.slot;
	count_unsent(skip);
	due = state.started_ns + (state.slot_fp >> PACE_SHIFT);
	return now > due ? now - due : 0;
}

/* From now on the slower pace, whatever is due still. Asked at marks alone, so that frames do not pay for it. */
static __always_inline void slow_down(u64 now)
{
	if (!state.slow_gap_fp || now - state.started_ns < state.slow_after_ns)
		return;
	state.gap_fp = state.slow_gap_fp;
	state.slow_gap_fp = 0;
	state.slot_fp = (now - state.started_ns) << PACE_SHIFT;
	state.slowed_ns = now;
}

/* The pace whose turn it is, whatever is due still. */
static __always_inline void take_turn(u64 now)
{
	u64 turn = now >> TURN_SHIFT;

	if (!state.turns || now < state.turn_end_ns)
		return;
	state.gap_fp = state.turn_gap_fp[bounded(turn % state.turns, TURNS_MAX)];
	state.slot_fp = (now - state.started_ns) << PACE_SHIFT;
	state.turn_end_ns = (turn + 1) << TURN_SHIFT;
}

/* Which frames were sent when: frames that were lost say nothing of that themselves. */
static __always_inline void make_mark(u64 now)
{
	u32 place = state.marks;
	struct sender_mark *mark = bpf_map_lookup_elem(&marks, &place);

	if (mark) {
		mark->ns = now;
		mark->sequence[0] = state.direction[0].sequence;
		mark->sequence[1] = state.direction[1].sequence;
		state.marks++;
	}
	state.mark_due_ns = now + state.mark_gap_ns;
	slow_down(now);
	take_turn(now);
}

/*
 * The clock costs as much as writing a frame. A late sender knows from the last reading that the next frame
 * is due, so some frames share a reading. A punctual one reads the clock for each frame.
 */
static __always_inline u64 read_clock(u64 due)
{
	if (state.clock_left && due <= state.clock_ns) {
		state.clock_left--;
	} else {
		state.clock_ns = bpf_ktime_get_ns();
		state.clock_left = clock_frames - 1;
	}
	return state.clock_ns;
}

/* Counts the page into its batch; returns when the batch's window ends. */
static __always_inline u64 window_end(u64 now)
{
	if (!state.batch_at)
		state.window_end_ns = now + BATCH_WAIT_NS;
	if (++state.batch_at >= state.batch)
		state.batch_at = 0;
	return state.window_end_ns;
}

static long is_over(u32 turn, u64 *until)
{
	return bpf_ktime_get_ns() >= *until;
}

/* Waits until a time, or until `end` if that is earlier; returns the time then. */
static __always_inline u64 wait_until(u64 now, u64 until, u64 end)
{
	if (end < until)
		until = end;
	if (now < until)
		bpf_loop(WAIT_TURNS_MAX, is_over, &until, 0);
	state.burst = 0;
	state.clock_left = 0;
	return read_clock(until);
}

static __always_inline u64 refused_of(u32 way)
{
	struct ledger_counts *c = bpf_map_lookup_elem(&counts, &way);

	return c ? c->port_refused + c->ring_refused : 0;
}

/*
 * Frames that ports and rings refused so far. They do so on this CPU, when a batch is handed on. No loop over
 * the directions: the verifier of Linux 6.1 does not find its end.
 */
static __always_inline u64 refused_frames(void)
{
	return refused_of(0) + refused_of(1);
}

/* After a refusal: pauses until as many frames as ordered will have been taken, at the rate since the last one. */
static __always_inline u64 back_off(u64 now)
{
	u64 refused = refused_frames(), sent = state.direction[0].sequence + state.direction[1].sequence;
	u64 handed = sent - state.refused_sent, lost = refused - state.refused_seen, pause = PAUSE_MAX_NS;
	int is_first = !state.refused_ns;

	if (!lost && !is_first)
		return now;
	if (handed > lost)
		pause = state.back_off_frames * (now - state.refused_ns) / (handed - lost);
	if (pause > PAUSE_MAX_NS)
		pause = PAUSE_MAX_NS;
	state.refused_seen = refused;
	state.refused_ns = now;
	state.refused_sent = sent;
	/* A pause may outlast the window: one call waits for all of it, and no page is dropped. */
	return is_first ? now : wait_until(now, now + pause, ~0ULL);
}

static __always_inline void count_sent(u64 now, u64 late)
{
	histogram_add(state.lateness, late);
	if (late > state.late_largest_ns)
		state.late_largest_ns = late;
	if (!state.first_ns)
		state.first_ns = now;
	state.last_ns = now;
	if (++state.burst > state.burst_largest)
		state.burst_largest = state.burst;
}

/* The next frame's length, the page cut to it; 0 when it could not be. */
static __always_inline u32 cut_page(struct xdp_md *ctx, struct sender_direction *d)
{
	u32 length = size_largest;

	if (sizes_count > 1) {
		length = sizes[bounded(d->size_at, SIZES_MAX)];
		if (length != size_largest && bpf_xdp_adjust_tail(ctx, (int)length - (int)size_largest))
			return 0;
	}
	return length;
}

/* The frame of a slot that is due. */
static __always_inline int send_frame(struct xdp_md *ctx, u32 way, u64 now, u64 late)
{
	struct sender_direction *d = &state.direction[way];
	u32 length = cut_page(ctx, d);

	int is_pause = late > MARK_PAUSE_NS && now - state.last_ns > MARK_PAUSE_NS && state.last_ns;

	/* The other half of the marks is for those at regular times: the rest of a trial must have them too. */
	if (is_pause && state.marks < MARKS_MAX / 2) {
		make_mark(state.last_ns + 1);
		make_mark(now);
	} else if (now >= state.mark_due_ns) {
		make_mark(now);
	}
	state.slot++;
	state.slot_fp += state.gap_fp;
	if (!length || !write_next(ctx, way, length, now) || bpf_redirect_map(&ports, way, 0) != XDP_REDIRECT) {
		state.refused++;
		return XDP_DROP;
	}
	d->sequence++;
	if (sizes_count > 1 && ++d->size_at == sizes_count)
		d->size_at = 0;
	next_flow(d);
	count_sent(now, late);
	return XDP_REDIRECT;
}

SEC("xdp")
int send(struct xdp_md *ctx)
{
	u64 due = state.started_ns + (state.slot_fp >> PACE_SHIFT), now = read_clock(due);
	int is_first = !state.batch_at;
	u64 end = window_end(now), late;

	if (state.back_off_frames && is_first)
		now = back_off(now);
	if (state.ended_ns) {
		/* One page a window only, because each drop takes the DUT's lock, and the DUT is still at work. */
		wait_until(now, now + BATCH_WAIT_NS, ~0ULL);
		return XDP_DROP;
	}
	if (!state.started_ns) {
		state.started_ns = now + state.delay_ns;
		due = state.started_ns;
	}
	if (now < due)
		now = wait_until(now, due, end);
	if (now < due)
		return XDP_DROP;
	late = now - due;
	if (state.gap_fp && late > state.late_max_ns)
		late = skip_overdue(now, late);
	if (state.slot >= state.slots || (state.lasts_ns && now - state.started_ns >= state.lasts_ns)) {
		state.ended_ns = now;
		return XDP_DROP;
	}
	/* Two copies of the code: with one direction all its places are known when loading. */
	if (directions == 1)
		return send_frame(ctx, 0, now, late);
	return send_frame(ctx, state.slot & 1, now, late);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
