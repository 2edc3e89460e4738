// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which kernel threads poll which link? For kernels before 6.8, which do not say so by netlink: a thread's name,
 * napi/mD-8193, does not tell in which namespace mD is, but what the thread was given to work on does.
 *
 * The kernel's own structures are read by name from its types (BTF); a kernel that has renamed one
 * refuses the program, and is younger than those that need it.
 */
#include "../base.h"
#include "../net_device.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#define PF_KTHREAD 0x00200000
#define COMM_OCTETS 16

struct task_struct {
	unsigned int flags;
	int pid;
	void *worker_private;
	char comm[COMM_OCTETS];
} __attribute__((preserve_access_index));

struct napi_struct {
	struct net_device *dev;
	struct task_struct *thread;
	unsigned int napi_id;
} __attribute__((preserve_access_index));

/* What a kernel thread was made with; private to kernel/kthread.c. */
struct kthread {
	void *data;
} __attribute__((preserve_access_index));

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} __attribute__((preserve_access_index));

static __always_inline int is_napi_name(const char *comm)
{
	return comm[0] == 'n' && comm[1] == 'a' && comm[2] == 'p' && comm[3] == 'i' && comm[4] == '/';
}

struct napi_thread {
	int tid;
	u32 ifindex;
	u32 netns; /* inode number of the namespace */
	u32 napi_id;
};

/* Not inlined: BTF has the types of parameters, and user space reads by them. */
static __noinline void write_thread(struct seq_file *seq, const struct napi_thread *thread)
{
	bpf_seq_write(seq, thread, sizeof(*thread));
}

SEC("iter/task")
int napi_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct kthread *kthread;
	struct napi_struct *napi;
	struct net_device *dev;
	struct napi_thread thread;

	if (!task || !(task->flags & PF_KTHREAD) || !is_napi_name(task->comm))
		return 0;
	/* A thread may be about to end: what is read then may make no sense, but the reading is safe. */
	kthread = (struct kthread *)task->worker_private;
	napi = BPF_CORE_READ(kthread, data);
	if (!napi || BPF_CORE_READ(napi, thread) != task)
		return 0;
	dev = BPF_CORE_READ(napi, dev);
	thread.tid = task->pid;
	thread.ifindex = BPF_CORE_READ(dev, ifindex);
	thread.netns = BPF_CORE_READ(dev, nd_net.net, ns.inum);
	thread.napi_id = BPF_CORE_READ(napi, napi_id);
	write_thread(ctx->meta->seq, &thread);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
