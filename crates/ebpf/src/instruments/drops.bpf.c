// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Each packet that the kernel drops in one network namespace, by interface, reason and place.
 * Costs some 100 ns a dropped packet.
 */
#include "../base.h"
#include "../net_device.h"
#include <bpf/bpf_tracing.h>

#define DROPS_MAX 4096

struct sk_buff {
	struct net_device *dev;
} __attribute__((preserve_access_index));

struct dropped_key {
	u64 location;
	u32 ifindex;
	u32 reason;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, DROPS_MAX);
	__type(key, struct dropped_key);
	__type(value, u64);
} drops SEC(".maps");

/* Inode number of the network namespace whose drops count. */
const volatile u32 netns = 0;

SEC("tp_btf/kfree_skb")
int BPF_PROG(dropped, struct sk_buff *skb, void *location, u32 reason)
{
	struct dropped_key key = { .location = (u64)location, .reason = reason };
	struct net_device *dev = skb->dev;
	u64 *count, one = 1;

	if (!dev || dev->nd_net.net->ns.inum != netns)
		return 0;
	key.ifindex = dev->ifindex;
	count = bpf_map_lookup_elem(&drops, &key);
	if (count)
		++*count;
	else
		bpf_map_update_elem(&drops, &key, &one, BPF_NOEXIST);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
