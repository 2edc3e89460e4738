"""Accepts each frame of netfilter's queue 0, one at a time: a router whose user-space program takes all frames.

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


def attribute(kind, value):
    length = 4 + len(value)
    return struct.pack("=HH", length, kind) + value + bytes(-length % 4)


def message(kind, flags, value):
    body = bytes(4) + value  # any family, version 0, queue 0
    return HEADER.pack(HEADER.size + len(body), kind, flags, 0, 0) + body


queue = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_NETFILTER)
bind = attribute(1, struct.pack("!BBH", 1, 0, socket.AF_INET))
copy_headers = attribute(2, struct.pack("!IB", 64, 2))
length_max = attribute(3, struct.pack("!I", 1024))
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
            number = frames[at + HEADER.size + 8:][:4]
            queue.send(message(VERDICT, REQUEST, attribute(2, struct.pack("!I", ACCEPT) + number)))
        at += (length + 3) & ~3
