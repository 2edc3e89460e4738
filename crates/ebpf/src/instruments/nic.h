/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef MPPS_NIC_H
#define MPPS_NIC_H

#include "../base.h"

#define QUEUES_MAX 64
#define INDIRECTION_ENTRIES 128
/* Octets a Toeplitz hash may cover: IPv6 addresses and ports. */
#define HASH_INPUT_MAX 36

#endif
