"""A page that is left open does not make the server grow, whether it reads or not."""

from __future__ import annotations

import gc
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.messages import headers
from kafkadouble.messages.generated.metadata import MetadataRequest

KEPT, MORE, AT_A_TIME = 12_000, 40_000, 500
"""Requests until the history is full, and those after that."""

THREADS = (os.cpu_count() or 1) + 4
"""The threads that an event loop keeps in its pool."""

MOST_GROWTH = 8 << 20
"""Bytes. The events of 40,000 requests are 12 MB of text, and several times as much as objects."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")


def flood(kafka: KafkaDouble, count: int) -> None:
    """This many requests on one connection."""
    frame = b"".join(map(bytes, headers.write_request(MetadataRequest(topics=[]), 1, "flood", 12)))
    with socket.create_connection(("127.0.0.1", kafka.port), 30) as sock:
        sock.sendall(frame)
        size = len(sock.recv(1 << 16))
        for _ in range(count // AT_A_TIME):
            sock.sendall(frame * AT_A_TIME)
            left = size * AT_A_TIME
            while left:
                left -= len(sock.recv(min(left, 1 << 16)))


def memory() -> int:
    """The resident memory of this process, in bytes."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def stream(url: str, *, is_read: bool) -> Iterator[list[int]]:
    """A stream of requests; how many bytes were read of it. It ends without a word."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    with socket.create_connection((host, int(port)), 60) as sock:
        sock.sendall(f"GET /events HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        sizes = [0]
        reader = threading.Thread(target=_read, args=(sock, sizes))
        if is_read:
            reader.start()
        yield sizes
        sock.shutdown(socket.SHUT_RDWR)
        if is_read:
            reader.join()


def _read(sock: socket.socket, sizes: list[int]) -> None:
    with suppress(ConnectionResetError):  # the server had more to send
        while chunk := sock.recv(1 << 16):
            sizes[0] += len(chunk)


@pytest.mark.parametrize("is_read", [True, False])
def test_memory_stays_flat(url: str, kafka: KafkaDouble, is_read: bool) -> None:
    flood(kafka, KEPT)
    with stream(url, is_read=is_read) as sizes:
        flood(kafka, KEPT)
        before = memory()
        flood(kafka, MORE)
        assert memory() - before < MOST_GROWTH
        assert bool(sizes[0]) == is_read
    until_nothing_watches(kafka)


def until_nothing_watches(kafka: KafkaDouble) -> None:
    """A stream notices at its next event that its reader is gone."""
    while kafka._serving().broker.watches.checks:
        flood(kafka, AT_A_TIME)


def test_streams_that_come_and_go_leave_nothing(url: str, kafka: KafkaDouble) -> None:
    counts = []
    for _ in range(3):
        for _ in range(2 * THREADS):
            with stream(url, is_read=True):
                flood(kafka, AT_A_TIME)
            until_nothing_watches(kafka)
        counts.append((len(os.listdir("/proc/self/fd")), threading.active_count()))
    (descriptors, threads), *_, (most_descriptors, most_threads) = counts
    assert most_descriptors <= descriptors + THREADS  # the last ones may be about to be closed
    assert most_threads <= threads + THREADS
