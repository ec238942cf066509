"""A client that can say hello, and no more."""

from __future__ import annotations

import socket
import struct

from kafkadouble import KafkaDouble

HELLO = struct.pack(">ihhih", 14, 18, 0, 7, 4) + b"test"
"""ApiVersions version 0 of client `test`, correlation id 7."""


def connect(kafka: KafkaDouble) -> socket.socket:
    host, _, port = kafka.bootstrap_servers.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=10)


def received(sock: socket.socket, size: int) -> bytes:
    """So many bytes, or fewer if the connection ends. A socket with a time-out may give them piece
    by piece."""
    found = b""
    while len(found) < size and (data := sock.recv(size - len(found))):
        found += data
    return found


def frame(sock: socket.socket) -> bytes:
    """The next frame, without its size."""
    return received(sock, int.from_bytes(received(sock, 4), "big"))


def says_hello(sock: socket.socket) -> bool:
    """Whether an ApiVersions request is answered without an error."""
    try:
        sock.sendall(HELLO)
        answer = frame(sock)
        return len(answer) > 6 and answer.startswith(struct.pack(">ih", 7, 0))
    except ConnectionError:
        return False
