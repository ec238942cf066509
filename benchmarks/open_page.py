"""Measures what open pages cost a server with many partitions.

    python -m benchmarks.open_page [--seconds 10] [--json]

A client produces a record every 50 ms while a number of pages read the views. The benchmark prints
the processor time of the server, as a share of one processor, and the bytes that each page was
sent, each second; also without a page.

Measured on two cores, before and after views had a budget and pages shared them. Shares of a
processor; without a page they are 5 %:

| partitions | pages | before | after | kB/s for a page, before | after |
|---|---|---|---|---|---|
| 2,000 | 1 | 18 % | 6 % | 947 | 226 |
| 2,000 | 4 | 37 % | 7 % | 631 | 226 |
| 10,000 | 1 | 35 % | 6 % | 2,035 | 226 |
| 10,000 | 4 | 48 % | 7 % | 904 | 226 |
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tests.control.http import post
from tests.support.serving import serving

EVERY_S = 0.05
CASES = tuple((partitions, pages) for partitions in (2_000, 10_000) for pages in (0, 1, 4))


class Cost(NamedTuple):
    """The figures of one case, each second."""

    partitions: int
    pages: int
    share: float
    kb_of_a_page: float


class Page:
    """Reads the views, and counts their bytes."""

    def __init__(self, url: str) -> None:
        host, _, port = url.removeprefix("http://").rpartition(":")
        self._sock, self.size_bytes = socket.create_connection((host, int(port)), 30), 0
        self._sock.sendall(f"GET /views HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        while chunk := self._sock.recv(1 << 16):
            self.size_bytes += len(chunk)

    def close(self) -> None:
        self._sock.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._sock.close()


@contextmanager
def pages_at(url: str, count: int) -> Iterator[list[Page]]:
    pages = [Page(url) for _ in range(count)]
    try:
        yield pages
    finally:
        for page in pages:
            page.close()


def cost(partitions: int, count: int, seconds: float) -> Cost:
    topics = [word for number in range(10) for word in ("--topic", f"t{number}:{partitions // 10}")]
    with serving("--port", "0", "--control-port", "0", "--quiet", *topics) as served:
        assert served.startup
        url = served.control_url()
        with pages_at(url, count) as pages:
            produce(url, 2)
            before, sizes = processor_s(served.process.pid), [page.size_bytes for page in pages]
            produce(url, seconds)
            spent = processor_s(served.process.pid) - before
            sent = [page.size_bytes - size for page, size in zip(pages, sizes, strict=True)]
        served.end()
    return Cost(partitions, count, spent / seconds, max(sent, default=0) / 1000 / seconds)


def produce(url: str, seconds: float) -> None:
    """A record at a time, also for the pages to come to rest."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        post(url, "produce", topic="t0", value="x", partition=0)
        time.sleep(EVERY_S)


def processor_s(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description="what open pages cost a server")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found: list[Any] = [cost(*case, options.seconds)._asdict() for case in CASES]
    if options.json:
        print(json.dumps(found))
        return
    for each in found:
        share, sent = f"{each['share']:.1%} of a processor", f"{each['kb_of_a_page']:.0f} kB/s for a page"
        print(f"{each['partitions']:6} partitions, {each['pages']} pages: {share}, {sent}")


if __name__ == "__main__":
    main()
