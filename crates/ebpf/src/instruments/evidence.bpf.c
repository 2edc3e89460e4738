// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the router's threads do, for `mpps explain`: their polls, and the packets that the kernel drops.
 * Apart from the ledger, because that is attached in every measurement and these cost the router time.
 */
#include "../base.h"
#include "../net_device.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/* Reasons of the kernel's core that are counted apart; the others share the last place. */
#define REASONS 256

/* Inode number of the DUT's network namespace. */
const volatile u32 dut_netns;
/* The reason of frames that the receiver's program takes at the DUT's exit, and the exits they leave by. */
const volatile u32 exit_reason;
const volatile u32 exit_ifindex[2];

struct sk_buff {
	struct net_device *dev;
} __attribute__((preserve_access_index));

struct napi_struct;

struct poll_counts {
	u64 polls;
	u64 frames;
	u64 empty;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct poll_counts);
} polls SEC(".maps");

/* Threads of the router, by their id. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, u32);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, REASONS);
	__type(key, u32);
	__type(value, u64);
} drops SEC(".maps");

static __always_inline int count(u32 frames)
{
	u32 key = 0, thread = bpf_get_current_pid_tgid();
	struct poll_counts *c;

	if (!bpf_map_lookup_elem(&threads, &thread))
		return 0;
	c = bpf_map_lookup_elem(&polls, &key);
	if (!c)
		return 0;
	if (frames) {
		c->polls++;
		c->frames += frames;
	} else {
		c->empty++;
	}
	return 0;
}

SEC("tp_btf/xdp_cpumap_kthread")
int BPF_PROG(cpumap_polls, int map_id, unsigned int processed)
{
	return count(processed);
}

SEC("tp_btf/napi_poll")
int BPF_PROG(napi_polls, struct napi_struct *napi, int work)
{
	return count(work);
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(packet_drops, struct sk_buff *skb, void *location, u32 reason)
{
	struct net_device *dev = skb->dev;
	u32 ifindex;
	u64 *c;

	if (!dev || dev->nd_net.net->ns.inum != dut_netns)
		return 0;
	ifindex = dev->ifindex;
	if (reason == exit_reason && (ifindex == exit_ifindex[0] || ifindex == exit_ifindex[1]))
		return 0;
	reason = bounded(reason, REASONS);
	c = bpf_map_lookup_elem(&drops, &reason);
	if (c)
		++*c;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
