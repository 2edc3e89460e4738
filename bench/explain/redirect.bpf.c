// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Forwards UDP over IPv4 by the kernel's own routes and neighbours, as samples/bpf/xdp_fwd_kern.c does: at tc or at XDP. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define AF_INET 2

/* The interface that the frame leaves by; 0 leaves it to the kernel. */
static __always_inline int route(void *ctx, struct ethhdr *eth, void *end, __u32 received_by)
{
	struct iphdr *ip = (void *)(eth + 1);
	struct bpf_fib_lookup fib = {};
	__u32 check;

	if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP) || ip->ttl <= 1)
		return 0;
	fib.family = AF_INET;
	fib.tos = ip->tos;
	fib.l4_protocol = ip->protocol;
	fib.tot_len = bpf_ntohs(ip->tot_len);
	fib.ipv4_src = ip->saddr;
	fib.ipv4_dst = ip->daddr;
	fib.ifindex = received_by;
	if (bpf_fib_lookup(ctx, &fib, sizeof(fib), 0) != BPF_FIB_LKUP_RET_SUCCESS)
		return 0;
	/* RFC 1141: the TTL loses 1. */
	check = ip->check + bpf_htons(0x0100);
	ip->check = check + (check >= 0xffff);
	ip->ttl--;
	__builtin_memcpy(eth->h_dest, fib.dmac, ETH_ALEN);
	__builtin_memcpy(eth->h_source, fib.smac, ETH_ALEN);
	return fib.ifindex;
}

SEC("tc")
int tc_redirect(struct __sk_buff *ctx)
{
	void *end = (void *)(long)ctx->data_end;
	int out = route(ctx, (void *)(long)ctx->data, end, ctx->ingress_ifindex);

	return out ? bpf_redirect(out, 0) : TC_ACT_OK;
}

SEC("xdp")
int xdp_redirect(struct xdp_md *ctx)
{
	void *end = (void *)(long)ctx->data_end;
	int out = route(ctx, (void *)(long)ctx->data, end, ctx->ingress_ifindex);

	return out ? bpf_redirect(out, 0) : XDP_PASS;
}

/* At the far end of the outgoing port, as a wire takes the frames from a NIC. */
SEC("xdp.drop")
int xdp_drop(struct xdp_md *ctx)
{
	return XDP_DROP;
}

char _license[] SEC("license") = "GPL";
