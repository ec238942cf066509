"""Measures the cost of the most expensive frame of each API that the limits of a request allow.

    python -m benchmarks.hostile_frames [--api Metadata] [--all] [--json]

A frame has the newest version of its API; the node has a topic of 10,000 partitions and 5,000
topics of one partition. Each frame is handled in a forked process. For each API the benchmark
prints the frame with the most CPU time: that time, its longest step (the node serves nothing else
meanwhile), the maximum memory of Python's objects (from a second run, because the count takes
time), and the sizes of the frame and of the response. `--all` prints every frame, without the
memory.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import resource
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.server.apis.row import ServedApi
from kafkadouble.server.apis.served import CONTROLLER_TABLE, SERVED, TABLE
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.network.connection import Connection
from kafkadouble.server.network.connection_state import State
from kafkadouble.server.network.line import Buffers
from kafkadouble.server.node import Node
from kafkadouble.server.requests.request import Peer
from tests.support.listeners import BROKER, listeners_of

from . import widest

MB = 1 << 20
CREATE = SERVED[ApiKeys.CREATE_TOPICS]
MOST_STEPS = 100_000
PATIENCE_MS = 60_000


class Cost(NamedTuple):
    """The figures of one frame."""

    api: str
    wide: str
    cpu_ms: float
    longest_step_ms: float
    peak_mb: float
    frame_bytes: int
    answer_bytes: int


class Line:
    """Receives the responses of a connection, and keeps their size."""

    def __init__(self) -> None:
        self.sent, self.goes_on = 0, False

    def write(self, buffers: Buffers) -> None:
        self.sent += sum(map(len, buffers))

    def close(self) -> None: ...

    def read_on(self, on: bool) -> None: ...

    def turn_is_over(self, ahead: bool) -> bool:
        return False

    def others_first(self) -> None:
        self.goes_on = True


def wide_node() -> Node:
    settings = Settings()
    node = Node(settings, listeners=listeners_of(settings, ("127.0.0.1", 9092)), now=1, seed=1, history=False)
    topics = [CreateTopicsRequest.CreatableTopic(name=widest.WIDE, num_partitions=10_000, replication_factor=1)]
    ask(node, widest.frame(CreateTopicsRequest(topics=topics, timeout_ms=1000), 7), CREATE)
    for start in range(0, 5000, 1000):
        names = (f"n{number}" for number in range(start, start + 1000))
        topics = [
            CreateTopicsRequest.CreatableTopic(name=each, num_partitions=1, replication_factor=1) for each in names
        ]
        ask(node, widest.frame(CreateTopicsRequest(topics=topics, timeout_ms=1000), 7), CREATE)
    return node


def ask(node: Node, frame: bytes, served: ServedApi) -> tuple[int, float]:
    """The size of the response, and the longest step (s)."""
    line = Line()
    peer = Peer(1, "127.0.0.1", 1, BROKER._replace(apis={served.api.key: served}))
    connection = Connection(node, peer, line, 100 * MB)
    longest, now = 0.0, 1
    step: Callable[[], None] = partial(connection.receive, frame, now)
    for _ in range(MOST_STEPS):
        began = time.perf_counter()
        step()
        longest = max(longest, time.perf_counter() - began)
        due = node.next_deadline() if connection.state is State.WAITING else None
        if due is None or due > PATIENCE_MS:
            break
        now = max(now, due)
        step = partial(node.tick, now)
    return line.sent, longest


def in_fork(function: Callable[[], Sequence[float]]) -> Any:
    """The result of the function in a forked process, so that the node here does not change."""
    theirs, ours = os.pipe()
    child = os.fork()
    if not child:
        os.write(ours, json.dumps(function()).encode())
        os._exit(0)
    os.close(ours)
    with os.fdopen(theirs, "rb") as pipe:
        figures = pipe.read()
    os.waitpid(child, 0)
    return json.loads(figures)


def time_taken(node: Node, served: ServedApi, frame: bytes) -> Sequence[float]:
    """CPU time and the longest step in ms, and the size of the response."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    answer, longest = ask(node, frame, served)
    after = resource.getrusage(resource.RUSAGE_SELF)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return 1000 * spent, 1000 * longest, answer


def memory_taken(node: Node, served: ServedApi, frame: bytes) -> Sequence[float]:
    """The maximum memory in MB."""
    tracemalloc.start()
    ask(node, frame, served)
    return (tracemalloc.get_traced_memory()[1] / MB,)


def costs_of(node: Node, served: ServedApi, *, every: bool) -> list[Cost]:
    """The figures of the most expensive frame of one API, or of every frame."""
    frames = dict(widest.frames(served.request, served.highest))
    found = []
    for wide, frame in frames.items():
        cpu, longest, answer = in_fork(partial(time_taken, node, served, frame))
        found.append(Cost(served.name, wide, cpu, longest, 0, len(frame), int(answer)))
    if every or not found:
        return found
    worst = max(found, key=lambda cost: cost.cpu_ms)
    (peak,) = in_fork(partial(memory_taken, node, served, frames[worst.wide]))
    return [worst._replace(peak_mb=peak)]


def costs(only: str | None, *, every: bool) -> Iterator[Cost]:
    """The figures of each API, on a broker's listener and on a controller's."""
    node = wide_node()
    for listener, table in (("", TABLE), (" (controller)", CONTROLLER_TABLE)):
        for served in table:
            if only is None or served.name == only:
                for cost in costs_of(node, served, every=every):
                    yield cost._replace(api=cost.api + listener)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--api", help="only this one")
    parser.add_argument("--all", action="store_true", help="every frame, not only the worst of each API")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    worst = sorted(costs(arguments.api, every=arguments.all), key=lambda cost: -cost.cpu_ms)
    if arguments.json:
        print(json.dumps([each._asdict() for each in worst], indent=2))
        return
    print(f"{'CPU ms':>8} {'step ms':>8} {'peak MB':>8} {'frame':>9} {'answer':>9}  API, and what is wide")
    for each in worst:
        print(
            f"{each.cpu_ms:8.0f} {each.longest_step_ms:8.0f} {each.peak_mb:8.1f} {each.frame_bytes:9} "
            f"{each.answer_bytes:9}  {each.api}: {each.wide}"
        )


if __name__ == "__main__":
    main()
