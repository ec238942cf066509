"""Measures how long a coordinator loads its transactional ids, beside Apache Kafka in the same run.

    python -m benchmarks.transaction_loading [--ids 10000] [--rounds 5] [--json]

Each server initializes the ids, stops, and starts again on its directory. It has loaded them when
DescribeTransactions of the last id is answered; until then the answer is
COORDINATOR_LOAD_IN_PROGRESS or NOT_COORDINATOR. Apache Kafka logs how long it loaded, which the
time of its start would hide. Ours loads before it answers, so its figure is the difference of two
starts: one with the ids, and one without them. The starts take turns. `cpu` is the same difference
in CPU time of the process, which other programs disturb less. Goal: at most Kafka's time.
"""

from __future__ import annotations

import argparse
import gc
import re
import socket
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from interop import local
from interop.local import Missing
from interop.local.java import FULL
from kafkadouble import KafkaDouble
from kafkadouble.messages import headers
from kafkadouble.messages.error_codes import (
    COORDINATOR_LOAD_IN_PROGRESS,
    NONE,
    NOT_COORDINATOR,
    TRANSACTIONAL_ID_NOT_FOUND,
)
from kafkadouble.messages.generated.describe_transactions import DescribeTransactionsRequest
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kafkadouble.wire.frame import Frames
from tests.support.client import ask

from . import report

TRANSACTION = 1
"""The kind of coordinator that FindCoordinator searches for."""
ONE_PARTITION = {"transaction.state.log.num.partitions": 1}
"""As the cluster of Apache Kafka has it that `interop.local` starts."""
PATIENCE_S = 60
AGAIN = (COORDINATOR_LOAD_IN_PROGRESS, NOT_COORDINATOR)
LOADED = re.compile(rb"Finished loading (\d+) transaction metadata from \S+ in (\d+) milliseconds")


def initialize(bootstrap: str, ids: int) -> None:
    """InitProducerId for each id, on one connection, many requests in flight. The first requests
    are tried again, until there are a coordinator and a block of producer ids."""
    _find_coordinator(bootstrap)
    host, _, port = bootstrap.rpartition(":")
    end = time.monotonic() + PATIENCE_S
    with socket.create_connection((host, int(port)), PATIENCE_S) as sock:
        left = list(range(ids))
        while left:
            assert time.monotonic() < end, f"{len(left)} ids are not initialized"
            numbers, left = left[:100], left[100:]
            sock.sendall(b"".join(map(_initialization, numbers)))
            left += [number for number, code in _answers(sock, numbers) if code in AGAIN]


def _find_coordinator(bootstrap: str) -> None:
    """The first request creates the topic."""
    request = FindCoordinatorRequest(key_type=TRANSACTION, coordinator_keys=["t"])
    end = time.monotonic() + PATIENCE_S
    while ask(bootstrap, request, 4).coordinators[0].error_code != NONE:
        assert time.monotonic() < end, "no coordinator"


def _name(number: int) -> str:
    return f"transactional-id-{number}"


def _initialization(number: int) -> bytes:
    body = InitProducerIdRequest(transactional_id=_name(number), transaction_timeout_ms=60_000)
    return b"".join(headers.write_request(body, number, "bench", 4))


def _answers(sock: socket.socket, numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The error code of each request, in the order of the requests."""
    reader, frames = Frames(), list[bytes]()
    while len(frames) < len(numbers):
        data = sock.recv(1 << 20)
        assert data, "the broker closed the connection"
        frames += [bytes(frame) for frame in reader.feed(data)]
    for number, frame in zip(numbers, frames, strict=True):
        response = headers.read_response(frame, InitProducerIdRequest.api_key, 4)[1]
        assert isinstance(response, InitProducerIdResponse)
        code = response.error_code
        assert code in {NONE, *AGAIN}, code
        yield number, code


def await_loaded(bootstrap: str, ids: int) -> None:
    """Waits until the coordinator describes the last id, or, if there are none, says so."""
    request = DescribeTransactionsRequest(transactional_ids=[_name(max(ids, 1) - 1)])
    end = time.monotonic() + PATIENCE_S
    while (code := ask(bootstrap, request, 0).transaction_states[0].error_code) in AGAIN:
        assert time.monotonic() < end, "the ids were not loaded"
    assert code == (NONE if ids else TRANSACTIONAL_ID_NOT_FOUND), code


class Took(NamedTuple):
    """Milliseconds of the wall clock, and of the CPU."""

    wall: float
    cpu: float


def ours(ids: int, rounds: int) -> list[Took]:
    """The time of loading in each round."""
    with TemporaryDirectory() as folder:
        full, empty = Path(folder, "full"), Path(folder, "empty")
        for path, count in ((full, ids), (empty, 0)):
            with KafkaDouble(data_dir=path, config=ONE_PARTITION) as kafka:
                initialize(kafka.bootstrap_servers, count)
        pairs = [(_started(full, ids), _started(empty, 0)) for _ in range(rounds + 1)][1:]
        return [Took(one.wall - other.wall, one.cpu - other.cpu) for one, other in pairs]


def _started(folder: Path, ids: int) -> Took:
    gc.collect()  # of the last round: the collector is not to run in this one for it
    wall, cpu = time.perf_counter(), time.process_time()
    with KafkaDouble(data_dir=folder, config=ONE_PARTITION) as kafka:
        await_loaded(kafka.bootstrap_servers, ids)
        return Took((time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000)


def kafkas(ids: int, rounds: int) -> list[float]:
    """The same of Apache Kafka, from its log. Raises Missing."""
    with TemporaryDirectory() as folder, local.cluster(Path(folder), flags=FULL) as running:
        node = running.nodes[0]
        initialize(running.bootstrap, ids)
        for _ in range(rounds + 1):
            node.stop()
            node.start()
            await_loaded(running.bootstrap, ids)
        found = [float(took) for count, took in LOADED.findall(node.log.read_bytes()) if int(count) == ids]
        assert len(found) == rounds + 1, f"{len(found)} of {rounds + 1} starts have logged their loading"
        return found[1:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--ids", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    table = report.Table("transaction_loading", f"ms to load {arguments.ids} transactional ids")
    peers = {}
    try:
        peers["kafka"] = statistics.median(kafkas(arguments.ids, arguments.rounds))
    except Missing as why:
        report.note(f"no real Kafka to compare with: {why}")
    found = ours(arguments.ids, arguments.rounds)
    table.add("load", statistics.median(took.wall for took in found), peers)
    table.add("cpu", statistics.median(took.cpu for took in found), {})
    table.print(as_json=arguments.json)


if __name__ == "__main__":
    main()
