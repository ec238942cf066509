"""Starts the servers that the benchmarks compare, each as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from interop import local
from interop.local.java import FULL
from interop.real_kafka import real_kafka

Server = tuple[str, int]
"""Bootstrap address, process id."""

Servers = tuple[str, Sequence[int]]
"""Bootstrap addresses, the ids of all processes."""


@contextmanager
def ours(*arguments: str, port: int | None = 0) -> Iterator[Server]:
    """`kafkadouble serve` on a free port, or where the arguments say."""
    at = [] if port is None else ["--port", str(port)]
    command = [sys.executable, "-m", "kafkadouble", "serve", *at, "--quiet", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip().partition("=")[2], process.pid
        finally:
            process.terminate()


MOCK = """
import sys
from confluent_kafka import Producer
producer = Producer({"bootstrap.servers": "unused", "test.mock.num.brokers": 1})
metadata = producer.list_topics(timeout=10)
print(",".join(f"{broker.host}:{broker.port}" for broker in metadata.brokers.values()), flush=True)
sys.stdin.read()
"""


@contextmanager
def mock() -> Iterator[Server]:
    """librdkafka's mock cluster, in a process of its own, to measure its CPU time separately."""
    command = [sys.executable, "-c", MOCK]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process.pid
        finally:
            process.stdin.close()
            process.terminate()


@contextmanager
def kafka() -> Iterator[Server]:
    """Apache Kafka; needs Java and Maven. Raises `interop.real_kafka.Missing`."""
    with tempfile.TemporaryDirectory() as folder, real_kafka(Path(folder)) as server:
        yield server.bootstrap, server.pid


@contextmanager
def kafkas() -> Iterator[Servers]:
    """Three combined nodes of Apache Kafka. Raises `interop.real_kafka.Missing`."""
    with tempfile.TemporaryDirectory() as folder, local.cluster(Path(folder), brokers=3, flags=FULL) as running:
        yield running.bootstrap, [node.pid for node in running.nodes]


def cpu_seconds(pid: int) -> float:
    """The user and system time of a process so far, in ns steps, where /proc counts 10 ms. The id
    of the clock of another process is as Linux makes it (clock_getcpuclockid), so Linux only."""
    return time.clock_gettime(~pid << 3 | 2)


def resident_bytes(pid: int) -> int:
    """The resident memory of a process; read from /proc, so Linux only."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
