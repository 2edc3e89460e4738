// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What programs on tracepoints need of the kernel's own structures to tell one interface from another: its number,
 * the inode number of its network namespace, and the device below it. Members are found by name in the kernel's types
 * (BTF); those not named here are none of our business.
 */
#ifndef MPPS_NET_DEVICE_H
#define MPPS_NET_DEVICE_H

struct ns_common {
	unsigned int inum;
} __attribute__((preserve_access_index));

struct net {
	struct ns_common ns;
} __attribute__((preserve_access_index));

typedef struct {
	struct net *net;
} __attribute__((preserve_access_index)) possible_net_t;

struct device {
	struct device *parent;
} __attribute__((preserve_access_index));

struct net_device {
	int ifindex;
	possible_net_t nd_net;
	struct device dev;
} __attribute__((preserve_access_index));

#endif
