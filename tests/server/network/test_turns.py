"""Requests that take long: their steps, which requests run in between, and that nothing is lost or
out of order."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kafkadouble.messages import error_codes, headers
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.messages.message import Message
from kafkadouble.server.handlers import produce
from kafkadouble.server.network import turns
from kafkadouble.server.network.connection import Connection
from kafkadouble.server.network.connection_state import State
from kafkadouble.server.network.turns import Asides, Turn
from kafkadouble.server.requests import aside_codec
from kafkadouble.server.requests.request import Peer
from kafkadouble.server.requests.waiting import SLICE, Aside, HandlerTask, Wait, Waiting
from kafkadouble.wire.batch import decode_all, encode_batch
from kafkadouble.wire.record import Record
from tests.hostile.stage import Line
from tests.server.harness import Harness, Pending
from tests.support.listeners import BROKER

MANY = 3 * SLICE
NAME = "wide"


@pytest.fixture
def cluster() -> Harness:
    harness = Harness({"message.max.bytes": 10_000_000})
    harness.create(NAME, partitions=MANY)
    return harness


def batch(value: bytes, codec: int = 0) -> bytes:
    return bytes(encode_batch([Record(0, 0, None, value, ())], compression=codec))


def producing(*values: bytes, codec: int = 0) -> ProduceRequest:
    parts = [
        ProduceRequest.PartitionProduceData(index=index, records=batch(value, codec))
        for index, value in enumerate(values)
    ]
    topics = [ProduceRequest.TopicProduceData(name=NAME, partition_data=parts)]
    return ProduceRequest(acks=-1, timeout_ms=1000, topic_data=topics)


def fetching(**others: Any) -> FetchRequest:
    partitions = [FetchRequest.FetchPartition(partition=at, partition_max_bytes=1000) for at in range(MANY)]
    topics = [FetchRequest.FetchTopic(topic=NAME, partitions=partitions)]
    return FetchRequest(max_bytes=10_000, session_epoch=-1, topics=topics, **others)


def turns_taken(cluster: Harness, pending: Pending) -> int:
    """The number of ticks until there is an answer; no time passes."""
    taken = 0
    while cluster.node.waiting.is_busy and not pending.done:
        cluster.tick(0)
        taken += 1
    return taken


def read(pending: Pending) -> dict[int, list[bytes | None]]:
    found = {}
    for topic in pending.response.responses:
        for each in topic.partitions:
            assert each.error_code == 0
            if each.records:
                found[each.partition_index] = [record.value for record in decode_all(bytes(each.records))]
    return found


def test_a_wide_fetch_takes_turns(cluster: Harness) -> None:
    cluster.submit(producing(b"first"), 9)
    pending = cluster.begin(fetching(max_wait_ms=0), 11)
    assert not pending.done
    assert turns_taken(cluster, pending) == MANY // SLICE
    assert read(pending) == {0: [b"first"]}


def test_request_behind_a_wide_fetch_is_begun(cluster: Harness) -> None:
    """The first partition was read and is empty; a record arrives before the fetch begins to
    wait."""
    pending = cluster.begin(fetching(max_wait_ms=60_000, min_bytes=1), 11)
    assert not pending.done
    cluster.submit(producing(b"behind"), 9)
    turns_taken(cluster, pending)
    assert read(pending) == {0: [b"behind"]}


def test_a_wide_fetch_waits_and_is_woken(cluster: Harness) -> None:
    pending = cluster.begin(fetching(max_wait_ms=60_000, min_bytes=1), 11)
    turns_taken(cluster, pending)
    assert not pending.done
    cluster.submit(producing(b"later"), 9)
    turns_taken(cluster, pending)
    assert read(pending) == {0: [b"later"]}


def test_a_wide_fetch_is_answered_when_its_time_is_up(cluster: Harness) -> None:
    pending = cluster.begin(fetching(max_wait_ms=500, min_bytes=1), 11)
    turns_taken(cluster, pending)
    cluster.tick(500)
    turns_taken(cluster, pending)
    assert read(pending) == {}


def test_a_wide_metadata_request_is_answered_from_one_image(cluster: Harness) -> None:
    """A topic that is created during the answer is in the next answer."""
    pending = cluster.begin(MetadataRequest(topics=None), 12)
    assert not pending.done
    cluster.create("late")
    turns_taken(cluster, pending)
    (topic,) = pending.response.topics
    assert [each.partition_index for each in topic.partitions] == [*range(MANY)]
    assert [topic.name for topic in cluster.submit(MetadataRequest(topics=None), 12).topics] == ["late", NAME]


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_a_batch_that_grows_is_decompressed_aside(
    cluster: Harness, codec: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(produce, "AT_ONCE", 1000)
    asides: list[tuple[Aside, HandlerTask]] = []
    cluster.node.waiting.aside = lambda aside, task: asides.append((aside, task))
    pending = cluster.begin(producing(b"a" * 5000, b"b" * 10, b"c" * 5000, codec=codec), 9)
    for expected in (1, 1):
        assert not pending.done
        assert len(asides) == expected
        aside, task = asides.pop()
        aside.run()
        task.woken()
        cluster.tick(0)
    parts = pending.response.responses[0].partition_responses
    assert [(part.index, part.error_code, part.base_offset) for part in parts] == [(0, 0, 0), (1, 0, 0), (2, 0, 0)]


def test_error_of_a_request_beside_the_loop_is_answered(cluster: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(produce, "AT_ONCE", 1000)
    monkeypatch.setattr("kafkadouble.server.log.inspection.DecompressionBudget.left", 4000)
    parts = cluster.submit(producing(b"a" * 5000, b"b" * 10, codec=1), 9).responses[0].partition_responses
    assert [part.error_code for part in parts] == [error_codes.INVALID_RECORD] * 2


def test_requests_behind_a_wide_one_wait_for_it(cluster: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection gets its answers in order, although a request takes several turns; another
    connection is served in between."""
    monkeypatch.setattr(aside_codec, "WIDE", 1000)
    wide, other = Line(keep=True), Line(keep=True)
    first = Connection(cluster.node, Peer(1, "a", 1, BROKER), wide, 1 << 20)
    second = Connection(cluster.node, Peer(2, "b", 2, BROKER), other, 1 << 20)
    first.receive(framed(fetching(max_wait_ms=0), 11, 1) + framed(MetadataRequest(topics=[]), 9, 2), cluster.now)
    assert (wide.written, first.state) == ([], State.WAITING)
    second.receive(framed(MetadataRequest(topics=[]), 9, 3), cluster.now)
    assert other.written
    while cluster.node.waiting.is_busy:
        cluster.tick(0)
    assert wide.written
    assert [int.from_bytes(answer[4:8]) for answer in wide.written] == [1, 2]
    assert cluster.node.intake.total == 0


def test_a_wide_request_of_a_closed_connection_is_dropped(cluster: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aside_codec, "WIDE", 1000)
    line = Line(keep=True)
    leaving = Connection(cluster.node, Peer(1, "a", 1, BROKER), line, 1 << 20)
    leaving.receive(framed(fetching(max_wait_ms=0), 11, 1), cluster.now)
    leaving.lost()
    while cluster.node.waiting.is_busy:
        cluster.tick(0)
    assert line.written == []
    assert cluster.node.intake.total == 0


def framed(body: Message, version: int, correlation_id: int) -> bytes:
    return b"".join(headers.write_request(body, correlation_id, "test", version))


def test_a_turn_is_over_after_its_time_and_the_next_round_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = 0.0
    monkeypatch.setattr(turns, "perf_counter", lambda: seconds)

    async def test() -> None:
        nonlocal seconds
        turn = Turn()
        assert not turn.is_over()
        seconds += turns.TURN_S
        assert turn.is_over()
        await asyncio.sleep(0)
        assert not turn.is_over()

    asyncio.run(test())


def test_a_node_is_ticked_for_a_turn_while_it_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks: list[float] = []
    monkeypatch.setattr(turns, "perf_counter", lambda: len(ticks) * turns.TURN_S / 4)
    turns.work(lambda: ticks.append(0), lambda: True)
    assert len(ticks) == 4
    turns.work(lambda: ticks.append(0), lambda: False)
    assert len(ticks) == 5


def test_requests_beside_the_loop_run_one_by_one() -> None:
    running: list[int] = []
    most: list[int] = []

    def work() -> str:
        running.append(1)
        most.append(len(running))
        running.pop()
        return "done"

    def working() -> Wait[str]:
        aside = Aside(work)
        yield aside
        return str(aside.result())

    async def test() -> None:
        waiting, over = Waiting(), asyncio.Event()
        done: list[str] = []

        def look() -> None:
            waiting.run(0)
            if len(done) == 3:
                over.set()

        asides = Asides(look)
        asides.loop, waiting.aside = asyncio.get_running_loop(), asides.add
        tasks = [waiting.start(working(), done.append, fail) for _ in range(4)]
        tasks[2].close()
        await over.wait()
        await asides.stop()
        assert done == ["done"] * 3

    asyncio.run(test())
    assert most == [1, 1, 1]


def fail(failure: Exception) -> None:
    raise failure
