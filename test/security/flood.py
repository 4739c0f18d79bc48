r"""Floods a port with one pattern; prints how many connections were made and how many mebibytes went each way.

Usage: flood.py HOST PORT PATTERN SECONDS HEADERS TARGET...

HEADERS are lines (with "\n" between them) of each request that has a key; each TARGET is asked in turn.
"""

import errno
import itertools
import os
import selectors
import socket
import struct
import sys
import time

host, port, name, seconds = sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
key = sys.argv[5].replace("\n", "\r\n").encode() + b"\r\n" if sys.argv[5] else b""
targets = itertools.cycle(target.encode() for target in sys.argv[6:])


def get(headers=b""):
    return b"GET " + next(targets) + b" HTTP/1.1\r\nHost: a\r\n" + headers + b"\r\n"


tiny = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 2000
# Connections, what each sends first, what it sends again and again after that, how many seconds are between, whether it
# reads answers, and whether the beginning of one resets it.
patterns = {
    "junk": (50, lambda: os.urandom(4096), lambda: os.urandom(65536), 0, True, False),
    "pipelined": (50, lambda: tiny, lambda: tiny, 0, True, False),
    "garbage": (50, lambda: tiny + b"\0garbage\r\n\r\n", lambda: bytes(65536), 0, False, False),
    "unread": (300, lambda: get() * 200, None, 0, False, False),
    "unread-key": (300, lambda: get(key) * 200, None, 0, False, False),
    "slow": (500, lambda: b"GET / HTTP/1.1\r\n", lambda: b"A: b\r\n", 1, True, False),
    "resets": (50, lambda: get(key), None, 0, True, True),
    "repeats": (8, lambda: get(b"Connection: close\r\n" + key), None, 0, True, False),
}
most, first, more, every, reads, resets = patterns[name]
selector = selectors.DefaultSelector()
# Connections that have sent everything and read nothing: they do not see that the other side ended, so they end here.
parked = []
made = sent = received = 0


def open_one():
    global made
    peer = socket.socket()
    peer.setblocking(False)
    if not reads:
        # As a client on the Internet has: answers fill the buffers after some tens of kilobytes.
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1460)
    if peer.connect_ex((host, port)) not in (0, errno.EINPROGRESS):
        return peer.close()
    made += 1
    both = selectors.EVENT_WRITE | (selectors.EVENT_READ if reads else 0)
    selector.register(peer, both, {"bytes": first(), "at": 0.0})


def close(peer, reset=False):
    selector.unregister(peer)
    if reset:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()


def write(peer, state, now):
    global sent
    if not state["bytes"] and more and now >= state["at"]:
        state["bytes"], state["at"] = more(), now + every
    if state["bytes"]:
        count = peer.send(state["bytes"])
        sent += count
        state["bytes"] = state["bytes"][count:]
    if state["bytes"] or more:
        return
    if reads:
        return selector.modify(peer, selectors.EVENT_READ, state)
    selector.unregister(peer)
    parked.append((now + 15, peer))


def read(peer):
    global received
    data = peer.recv(262144)
    received += len(data)
    if not data or resets:
        close(peer, resets)


ends_at = time.monotonic() + seconds
while (now := time.monotonic()) < ends_at:
    while parked and parked[0][0] < now:
        parked.pop(0)[1].close()
    for _ in range(min(20, most - len(parked) - len(selector.get_map()))):
        open_one()
    for ready, events in selector.select(0.05):
        try:
            if events & selectors.EVENT_WRITE:
                write(ready.fileobj, ready.data, now)
            elif events & selectors.EVENT_READ:
                read(ready.fileobj)
        except BlockingIOError:
            pass
        except OSError:
            close(ready.fileobj)
    # The sender must not take the processor from whom it floods: connections are always ready to take drips.
    time.sleep(0.05 if every else 0.001)
print(made, round(sent / 2**20), round(received / 2**20))
