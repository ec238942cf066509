"""A page that is left open does not make the server grow, whether it reads or not."""

from __future__ import annotations

import gc
import os
import socket
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.control.calls.verb_calls import newest_number
from tests.control.floods import AT_A_TIME, flood

KEPT, MORE = 3_000, 3_000
"""Requests until the history is full, and those after that."""

THREADS = (os.cpu_count() or 1) + 4
"""The threads that an event loop keeps in its pool."""

SAMPLES = 3

MOST_GROWTH = 1 << 19
"""Bytes. The events of 3,000 requests are 0.9 MB of text, and several times as much as objects."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="descriptors are counted in /proc")


@contextmanager
def traced_memory() -> Iterator[None]:
    """Counts what Python allocates. The resident memory of a process varies by more than a leak."""
    tracemalloc.start()
    try:
        yield
    finally:
        tracemalloc.stop()


def allocated(kafka: KafkaDouble) -> int:
    """The bytes that stay allocated: the least of some moments, since a stream needs memory for the
    text that it is writing."""
    found = []
    for _ in range(SAMPLES):
        flood(kafka, AT_A_TIME)
        gc.collect()
        found.append(tracemalloc.get_traced_memory()[0])
    return min(found)


class Reader:
    """Reads a stream of requests on a thread of its own."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock, self._tail, self._changed = sock, b"", threading.Condition()
        self._thread = threading.Thread(target=self._read)

    def start(self) -> None:
        self._thread.start()

    def join(self) -> None:
        self._thread.join()

    def _read(self) -> None:
        with suppress(ConnectionResetError):  # the server had more to send
            while chunk := self._sock.recv(1 << 16):
                with self._changed:
                    self._tail = (self._tail + chunk)[-1000:]
                    self._changed.notify()

    def wait_for(self, number: int) -> None:
        """Waits until the request with this number has come."""
        with self._changed:
            assert self._changed.wait_for(lambda: f"id: {number}\n".encode() in self._tail, 60)


@contextmanager
def stream(url: str, *, is_read: bool) -> Iterator[Reader]:
    """A stream of requests. It ends without a word."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    with socket.create_connection((host, int(port)), 60) as sock:
        sock.sendall(f"GET /events HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        reader = Reader(sock)
        if is_read:
            reader.start()
        try:
            yield reader
        finally:
            sock.shutdown(socket.SHUT_RDWR)
            if is_read:
                reader.join()


@pytest.mark.parametrize("is_read", [True, False])
def test_memory_of_an_open_event_stream_stays_flat(
    url: str, kafka: KafkaDouble, is_read: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    history: Any = kafka._double_host.serving().broker.history
    for kept in (history._clients, history._answers):
        monkeypatch.setattr(kept, "_max_count", KEPT // 2)
    with traced_memory(), stream(url, is_read=is_read) as reader:
        sizes = []
        for count in (KEPT, MORE):
            flood(kafka, count)
            if is_read:
                reader.wait_for(newest_number(kafka))
            sizes.append(allocated(kafka))
        assert sizes[1] - sizes[0] < MOST_GROWTH
    until_nothing_watches(kafka)


def until_nothing_watches(kafka: KafkaDouble) -> None:
    """A stream notices at its next event that its reader is gone."""
    while kafka._double_host.serving().broker.watches.checks:
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
