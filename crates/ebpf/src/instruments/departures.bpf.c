// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What leaves a port and when, by another count than the sender's own: the tracepoint is called when the
 * kernel hands a bulk of up to 16 redirected frames to the port's driver. The sender's clock says when a
 * frame was written; this says when it went. To calibrate the sender with, not for judged trials.
 */
#include "../base.h"
#include "../net_device.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/* DEV_MAP_BULK_SIZE (net/core/dev.c), and none. */
#define BULK_SIZES 17

/* Namespace (inode number) and interface of the port. */
const volatile u32 port_netns;
const volatile u32 port_ifindex;

/* One port is fed from one CPU: no locks. */
struct departures {
	u64 frames;    /* that the port took */
	u64 first_ns;  /* when the first bulk went */
	u64 last_ns;   /* when the last went */
	u64 bulks[BULK_SIZES]; /* bulks by the frames that were taken of them */
	u64 gaps[HISTOGRAM_BUCKETS]; /* from one bulk to the next, ns */
} departures SEC(".data.departures");

SEC("tp_btf/xdp_devmap_xmit")
int BPF_PROG(port_transmits, const struct net_device *from, const struct net_device *to, int sent, int drops, int err)
{
	u64 now;

	if (to->nd_net.net->ns.inum != port_netns || to->ifindex != port_ifindex || sent <= 0)
		return 0;
	now = bpf_ktime_get_ns();
	if (departures.first_ns)
		histogram_add(departures.gaps, now - departures.last_ns);
	else
		departures.first_ns = now;
	departures.last_ns = now;
	departures.frames += sent;
	departures.bulks[bounded(sent, BULK_SIZES)]++;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
