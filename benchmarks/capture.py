"""Measures the CPU time that the capture of traffic adds to a request.

    python -m benchmarks.capture [--requests 40000] [--json]

Goal: a captured request takes less than 10 us of CPU more, in total: the row, its columns, Parquet,
and the file that is made at the end. A node without a socket answers two connections in turns of a
few hundred requests; one of them is captured. The best turn counts; for columns the best thousand
rows, and for Parquet and the file, which belong to the whole run, the best of three runs. Other
processes on the machine can only add to a figure.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from kafkadouble.messages import headers
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.message import Message
from kafkadouble.pipeline.traffic.schema import batch_of
from kafkadouble.seen.capture_files import CaptureFiles
from kafkadouble.seen.capturing import SLICE
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.network.connection import Connection
from kafkadouble.server.network.line import Buffers
from kafkadouble.server.node import Node
from kafkadouble.server.requests.request import Peer
from kafkadouble.server.tracing.capture import Capture
from tests.support.listeners import BROKER, listeners_of

from . import report
from .latency import produce_request

NOW = 1_763_000_000_000
GOAL_US, TURN = 10, 256


class Line:
    """A connection that accepts every write."""

    def write(self, buffers: Buffers) -> None:
        pass

    def close(self) -> None:
        raise RuntimeError("the connection was closed")

    def read_on(self, on: bool) -> None:
        pass

    def turn_is_over(self, ahead: bool) -> bool:
        return False

    def others_first(self) -> None:
        pass


def _bytes(body: Message, version: int) -> bytes:
    return b"".join(map(bytes, headers.write_request(body, 1, "bench", version)))


def metadata_request() -> bytes:
    return _bytes(MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name="bench")]), 12)


def fetch_request() -> bytes:
    partition = FetchRequest.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)
    topic = FetchRequest.FetchTopic(topic="bench", partitions=[partition])
    return _bytes(FetchRequest(max_wait_ms=0, min_bytes=1, max_bytes=1000, topics=[topic]), 12)


CASES = {"produce": produce_request, "fetch": fetch_request, "metadata": metadata_request}


class Figures(NamedTuple):
    """CPU time of a request in us."""

    plain: float
    captured: float
    columns: float
    writing: float

    @property
    def added(self) -> float:
        return self.captured - self.plain + self.columns + self.writing


def measure(request: bytes, count: int, path: Path) -> Figures:
    capture = Capture(time.perf_counter_ns, 0)
    plain, captured = _connection(None), _connection(capture)
    capture.take(SLICE)
    batches: list[Any] = []
    spent: list[tuple[float, float]] = []
    columns: list[float] = []
    for _ in range(count // TURN):
        spent.append((_turn(plain, request), _turn(captured, request)))
        if len(capture) >= SLICE:
            start = time.thread_time()
            batches.append(batch_of("run", capture.take(SLICE)))
            columns.append((time.thread_time() - start) / SLICE)
    writing = min(_written(batches, Path(f"{path}-{number}.parquet")) for number in range(3))
    best = (min(each[0] for each in spent), min(each[1] for each in spent), min(columns), writing)
    return Figures(*(seconds * 1e6 for seconds in best))


def _connection(capture: Capture | None) -> Connection:
    """A connection to a node of its own, with a topic that has a record."""
    settings = Settings()
    node = Node(settings, listeners=listeners_of(settings, ("127.0.0.1", 9092)), now=NOW, seed=1, history=False)
    if capture is not None:
        node.trace.subscribe(capture, capture.nanos)
    connection = Connection(node, Peer(1, "127.0.0.1", 50_000, BROKER), Line(), 1 << 20)
    for each in (metadata_request(), produce_request()):
        connection.receive(each, NOW)
    return connection


def _written(batches: list[Any], path: Path) -> float:
    """Seconds for a row; there are two parts, so that the file is merged from them."""
    start = time.process_time()
    files = CaptureFiles(str(path), "run")
    for part in (batches[::2], batches[1::2]):
        files.add(part)
    files.close()
    return (time.process_time() - start) / sum(map(len, batches))


def _turn(connection: Connection, request: bytes) -> float:
    start = time.thread_time()
    for _ in range(TURN):
        connection.receive(request, NOW)
    return (time.thread_time() - start) / TURN


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--requests", type=int, default=40_000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    table = report.Table("capture", f"us of CPU a request; the goal is that less than {GOAL_US} are added")
    with tempfile.TemporaryDirectory() as folder:
        # Parquet starts once in a process
        measure(metadata_request(), 3 * SLICE, Path(folder, "first"))
        for case, make in CASES.items():
            found = measure(make(), arguments.requests, Path(folder, case))
            table.add(case, found.plain + found.added, {"without": found.plain})
            table.add(f"{case}, added", found.added, {})
            for part in ("columns", "writing"):
                table.add(f"{case}, of that {part}", getattr(found, part), {})
    table.print(as_json=arguments.json)


if __name__ == "__main__":
    main()
