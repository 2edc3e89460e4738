"""Accepts each frame of netfilter's queue 0, one at a time. It is a router's program of user space.

The messages are those of linux/netfilter/nfnetlink_queue.h.
"""
import socket
import struct

NETLINK_NETFILTER = 12
QUEUE = 3 << 8
PACKET, VERDICT, CONFIG = QUEUE, QUEUE | 1, QUEUE | 2
REQUEST, ACK = 1, 4
HEADER = struct.Struct("=IHHII")
ACCEPT = 1
NFQA_CFG_CMD, NFQA_CFG_PARAMS, NFQA_CFG_QUEUE_MAXLEN = 1, 2, 3
NFQA_VERDICT_HDR = 2
# Behind a message's header: four octets, then the header of its first attribute.
FIRST_VALUE = 8


def attribute(kind, value):
    length = 4 + len(value)
    return struct.pack("=HH", length, kind) + value + bytes(-length % 4)


def message(kind, flags, value):
    body = bytes(4) + value  # any family, version 0, queue 0
    return HEADER.pack(HEADER.size + len(body), kind, flags, 0, 0) + body


queue = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_NETFILTER)
bind = attribute(NFQA_CFG_CMD, struct.pack("!BBH", 1, 0, socket.AF_INET))
copy_headers = attribute(NFQA_CFG_PARAMS, struct.pack("!IB", 64, 2))
length_max = attribute(NFQA_CFG_QUEUE_MAXLEN, struct.pack("!I", 1024))
for setting in (bind, copy_headers, length_max):
    queue.send(message(CONFIG, REQUEST | ACK, setting))
    (error,) = struct.unpack_from("=i", queue.recv(4096), HEADER.size)
    if error:
        raise OSError(-error, "netfilter's queue 0")
while True:
    try:
        frames = queue.recv(1 << 16)
    except OSError:  # More than the socket holds: the kernel dropped some.
        continue
    at = 0
    while at < len(frames):
        length, kind, *_ = HEADER.unpack_from(frames, at)
        if kind == PACKET:
            # The first attribute has the frame's number.
            number = frames[at + HEADER.size + FIRST_VALUE:][:4]
            verdict = attribute(NFQA_VERDICT_HDR, struct.pack("!I", ACCEPT) + number)
            queue.send(message(VERDICT, REQUEST, verdict))
        at += (length + 3) & ~3
