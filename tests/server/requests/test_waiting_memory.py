"""A request that waits keeps no record data: no copies, and no memory or files that the log could
release."""

from __future__ import annotations

import gc
import inspect
from types import FunctionType, ModuleType
from typing import Any

import pytest

from kafkadouble.messages import headers
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.message import Message
from kafkadouble.server.network.connection_state import State
from kafkadouble.server.node import Node
from kafkadouble.server.replica.replication.partition import Partition
from kafkadouble.wire.file_slice import FileSlice
from tests.kips.replicas import TOPIC, Replicas
from tests.server.harness import Harness
from tests.server.machine import Machine, produce_request
from tests.server.topic_requests import fetching
from tests.support.conversation import Client

A_RECORD, RECORDS = 10_000, 40
SMALL = 4096
"""A size larger than everything else in a waiting request."""


def kept_by(root: object) -> list[object]:
    """The pieces of data that this object holds, and that the node itself does not: those larger
    than SMALL or in a file."""
    seen: dict[int, object] = {}
    left, found = [root], list[object]()
    while left:
        each = left.pop()
        if id(each) in seen or isinstance(each, Node | Partition | ModuleType | FunctionType | type):
            continue
        seen[id(each)] = each
        if (isinstance(each, bytes | bytearray | memoryview) and len(each) > SMALL) or isinstance(each, FileSlice):
            found.append(each)
        elif not inspect.isbuiltin(each):
            left += gc.get_referents(each)
    return found


def send(client: Client, body: Message, version: int, now: int) -> None:
    frame = b"".join(bytes(part) for part in headers.write_request(body, 1, "waiting", version))
    client._asked.append((body.api_key or 0, version))
    client.send(frame, now)
    assert client.connection.state is State.WAITING, "it waits"


def fetch(min_bytes: int, offset: int = 0) -> FetchRequest:
    return fetching(TOPIC, offset, max_wait_ms=60_000, min_bytes=min_bytes, max_bytes=1 << 24)


@pytest.mark.parametrize("made", [Harness, Machine])
@pytest.mark.parametrize("is_woken", [False, True])
def test_a_fetch_that_waits_for_more_keeps_nothing(made: type[Harness], is_woken: bool) -> None:
    node = made()
    node.create(TOPIC)
    for _ in range(RECORDS):
        node.submit(produce_request(TOPIC, b"v" * A_RECORD, acks=1), 9)
    client = Client("waiting", node.node, 7)
    send(client, fetch(2 * RECORDS * A_RECORD), 12, node.now)
    if is_woken:  # and finds that there is still not enough
        node.partition(TOPIC).wake_waiters()
        node.tick(1)
        assert client.connection.state is State.WAITING
    assert kept_by(client.connection) == []
    node.tick(60_000)
    [answer] = client.answers
    assert len(answer.responses[0].partitions[0].records) > RECORDS * A_RECORD // 2


def test_a_produce_that_waits_for_followers_keeps_nothing() -> None:
    replicas = Replicas(min_isr=2)
    node = replicas.cluster.nodes[11]
    replicas.cluster.cut.add(12)
    client = Client("waiting", node, 7)
    send(client, produce_request(TOPIC, b"v" * A_RECORD, timeout_ms=60_000), 9, replicas.cluster.now)
    assert kept_by(client.connection) == []
    replicas.cluster.cut.clear()
    replicas.until(lambda: client.connection.state is not State.WAITING)


def test_memory_of_waiting_handlers_is_measured() -> None:
    view = memoryview(bytes(SMALL + 1))

    def waits() -> Any:
        kept = {"deep": [view]}
        yield 1
        del kept

    steps = waits()
    next(steps)
    assert kept_by(steps) == [view]
