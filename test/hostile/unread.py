"""Sends requests whose answers it never reads, then bytes that are not a request; prints how many of those were taken.

Usage: unread.py HOST PORT MEBIBYTES
"""

import select
import socket
import sys
import time

host, port, mebibytes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
peer = socket.socket()
# As a client on the Internet has: answers fill the buffers after some tens of kilobytes.
peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1460)
peer.connect((host, port))
peer.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: a\r\n\r\n" * 1500)
time.sleep(0.3)
peer.sendall(b"\0garbage\r\n\r\n")
peer.setblocking(False)
zeros = bytes(65536)
taken = 0
while taken < mebibytes * 2**20:
    # Not taken for three seconds: nothing is read any more.
    if not select.select([], [peer], [], 3)[1]:
        break
    try:
        taken += peer.send(zeros)
    except OSError:
        break
print(taken)
