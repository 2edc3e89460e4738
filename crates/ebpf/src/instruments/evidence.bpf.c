// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The polls of the router's threads, for `mpps explain`. Apart from the ledger, because that is attached in every
 * measurement and these cost the router time.
 */
#include "../base.h"
#include <bpf/bpf_tracing.h>

struct napi_struct;

struct poll_counts {
	u64 polls;
	u64 frames;
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

static __always_inline int count(u32 frames)
{
	u32 key = 0, thread = bpf_get_current_pid_tgid();
	struct poll_counts *c;

	if (!bpf_map_lookup_elem(&threads, &thread))
		return 0;
	c = bpf_map_lookup_elem(&polls, &key);
	if (c && frames) {
		c->polls++;
		c->frames += frames;
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

char LICENSE[] SEC("license") = "GPL";
