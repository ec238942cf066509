"""Requests whose answers have to wait, and clients that do not read their answers, or slowly."""

from __future__ import annotations

import socket
import time
from contextlib import suppress

from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.wire.batch import encode_batch
from kafkadouble.wire.record import Record

from ..sockets import MB, fetched, framed, produced
from .exchanges import HOLD_S, Address, answered, connected

READS = 100
"""How often a slow reader reads."""


class Writer:
    def __init__(self, address: Address) -> None:
        self._sock = connected(address, 1)
        self._frame = framed(produced(bytes(encode_batch([Record(0, 0, None, b"v", ())])), "evil"), 9)

    def write(self) -> None:
        answered(self._sock, [self._frame])


def waiting_fetches(address: Address, scale: float) -> None:
    """5,000 fetches wait for one partition, which is written to ten times."""
    socks = connected(address, int(5000 * scale))
    writer = Writer(address)
    for offset in range(10):
        frame = framed(fetched(offset, "evil", max_wait_ms=60_000, min_bytes=1), 11)
        for sock in socks:
            sock.setblocking(True)
            sock.sendall(frame)
        writer.write()
        answered(socks, [b""] * len(socks))


POLLS = 50 * (framed(MetadataRequest(topics=None), 9) + framed(fetched(0, "evil", MB), 11))


def readers(address: Address, scale: float) -> list[socket.socket]:
    """200 clients of a topic that has records."""
    writer = Writer(address)
    for _ in range(20):
        writer.write()
    return connected(address, int(200 * scale))


def unread_answers(address: Address, scale: float) -> None:
    for sock in readers(address, scale):
        sock.setblocking(False)
        with suppress(BlockingIOError):
            while sock.send(POLLS):
                pass
    time.sleep(HOLD_S * scale)


def slow_readers(address: Address, scale: float) -> None:
    """They ask for more than fits into their sockets, and read a little now and then."""
    socks = readers(address, scale)
    for sock in socks:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        sock.setblocking(False)
    for _ in range(READS):
        for sock in socks:
            with suppress(BlockingIOError):
                sock.send(POLLS)
            with suppress(BlockingIOError):
                sock.recv(100)
        time.sleep(HOLD_S * scale / READS)
