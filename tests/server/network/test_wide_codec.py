"""Wide requests are read aside, and wide answers are written aside: not on the thread of the node,
which serves others meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import headers
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.messages.message import Message
from kafkadouble.server.network.connection import Connection
from kafkadouble.server.network.connection_state import State
from kafkadouble.server.requests import aside_codec
from kafkadouble.server.requests.request import Peer
from kafkadouble.server.requests.waiting import SLICE, Aside, HandlerTask
from tests.hostile.stage import Line
from tests.server.harness import Harness
from tests.support.listeners import BROKER

NAME = "wide"
MANY = aside_codec.MANY_SLICES * SLICE


class Asides:
    """Keeps what is to be done aside until the test does it."""

    def __init__(self, cluster: Harness) -> None:
        self.cluster, self.left = cluster, list[tuple[Aside, HandlerTask]]()
        cluster.node.waiting.aside = lambda aside, task: self.left.append((aside, task))

    def do_one(self) -> None:
        self._settle()
        ((aside, task),) = self.left
        self.left.clear()
        aside.run()
        task.woken()
        self._settle()

    def _settle(self) -> None:
        while self.cluster.node.waiting.is_busy:
            self.cluster.tick(0)


@pytest.fixture
def cluster() -> Harness:
    return Harness()


@pytest.fixture
def asides(cluster: Harness) -> Asides:
    return Asides(cluster)


def connected(cluster: Harness) -> tuple[Connection, Line]:
    line = Line(keep=True)
    return Connection(cluster.node, Peer(1, "a", 1, BROKER), line, 1 << 24), line


def framed(body: Message, version: int) -> bytes:
    return b"".join(headers.write_request(body, 1, "test", version))


def wide_request() -> bytes:
    return framed(FindCoordinatorRequest(coordinator_keys=[f"group-{at:020}" for at in range(MANY)]), 4)


def answered(line: Line, api_key: int, version: int) -> Any:
    assert line.written is not None
    (frame,) = line.written
    return headers.read_response(frame[4:], api_key, version)[1]


def test_a_wide_request_is_read_aside_and_its_answer_is_written_aside(cluster: Harness, asides: Asides) -> None:
    connection, line = connected(cluster)
    connection.receive(wide_request(), cluster.now)
    assert (connection.state, line.written) == (State.WAITING, [])
    asides.do_one()
    assert (connection.state, line.written) == (State.WAITING, [])
    asides.do_one()
    assert connection.state is State.OPEN
    assert len(answered(line, 10, 4).coordinators) == MANY


def test_a_wide_answer_to_a_narrow_request_is_written_aside(cluster: Harness, asides: Asides) -> None:
    cluster.create(NAME, partitions=MANY)
    connection, line = connected(cluster)
    connection.receive(framed(MetadataRequest(topics=None), 12), cluster.now)
    asides.do_one()
    (topic,) = answered(line, 3, 12).topics
    assert len(topic.partitions) == MANY
    assert not asides.left


def test_small_response_is_encoded_at_once(cluster: Harness, asides: Asides) -> None:
    cluster.create(NAME, partitions=MANY - 2 * SLICE)
    connection, line = connected(cluster)
    connection.receive(framed(MetadataRequest(topics=None), 12), cluster.now)
    while cluster.node.waiting.is_busy:
        cluster.tick(0)
    assert not asides.left
    assert len(answered(line, 3, 12).topics) == 1


def test_bytes_of_a_wide_request_that_cannot_be_read_end_the_connection(cluster: Harness, asides: Asides) -> None:
    connection, line = connected(cluster)
    frame = wide_request()[:-30]
    connection.receive((len(frame) - 4).to_bytes(4) + frame[4:], cluster.now)
    asides.do_one()
    assert (connection.state, line.closed) == (State.CLOSING, True)


def test_an_answer_that_cannot_be_written_ends_the_connection(
    cluster: Harness, asides: Asides, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*args: object) -> None:
        raise ValueError("a defect")

    monkeypatch.setattr(headers, "write_response", broken)
    connection, line = connected(cluster)
    connection.receive(wide_request(), cluster.now)
    asides.do_one()
    asides.do_one()
    assert (connection.state, line.closed) == (State.CLOSING, True)
    assert "cannot be written" in caplog.text


def test_a_connection_that_is_lost_meanwhile_gets_no_answer(cluster: Harness, asides: Asides) -> None:
    connection, line = connected(cluster)
    connection.receive(wide_request(), cluster.now)
    asides.do_one()
    connection.lost()
    asides.do_one()
    assert line.written == []
    assert cluster.node.intake.total == 0


@pytest.mark.parametrize(("partitions", "asides_taken"), [(1, 0), (MANY + 1, 1)])
def test_a_produce_request_is_wide_by_its_partitions_and_not_by_its_records(
    cluster: Harness, asides: Asides, partitions: int, asides_taken: int
) -> None:
    data = [
        ProduceRequest.PartitionProduceData(index=at, records=bytes(200_000 // partitions)) for at in range(partitions)
    ]
    topics = [ProduceRequest.TopicProduceData(name=NAME, partition_data=data)]
    connection, _ = connected(cluster)
    connection.receive(framed(ProduceRequest(acks=-1, timeout_ms=1000, topic_data=topics), 9), cluster.now)
    assert len(asides.left) == asides_taken
