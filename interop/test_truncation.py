"""Records that a consumer has read are lost (KIP-320): what each client sends, what it detects, and
at which offset it continues.

The double runs in this process, so that a test can truncate a log while clients read it. What
clients send and do is also in the table in docs/leader-epochs.md, and a test compares that table
with what is seen here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from interop.brokers import Broker
from interop.clients import CLIENTS, CREATOR, Client
from interop.clients.shape import Consumer, Partition, Record, Refused
from interop.local.jars import Missing
from interop.truncation.reader import Reader, reading
from kafkadouble import KafkaDouble
from tests.support.waiting import eventually

pytestmark = pytest.mark.needs("faults")

ME = "reader"
T = Partition("t", 0)
READ, LEFT = 5, 3
"""The number of records that are read, and the number that are left when the tail is lost; epoch 0
then ends there."""

JAVA = "kafka-clients"
PROTOCOLS = ["classic", "consumer"]
"""Kafka's two consumers: each has its own code for this."""

PAGE = Path(__file__).resolve().parent.parent / "docs" / "leader-epochs.md"


@pytest.fixture
def double(broker: Broker) -> Iterator[KafkaDouble]:
    """A double of its own for each test. Its topic `t` holds the five records that are read; the
    committed offset of group `g` is the first of them."""
    with KafkaDouble() as running:
        running.create_topic("t")
        for offset in range(READ):
            running.produce("t", f"old {offset}")
        with CREATOR.consumer(running.bootstrap_servers, partitions=[T], group_id="g") as consumer:
            consumer.commit({T: (0, "")})
        yield running


def reader(double: KafkaDouble, client: Client, reset: str) -> Any:
    """A consumer that begins at the committed offset. With the policy `none` it reports a loss to
    the application."""
    policy = "error" if reset == "none" and client.name == "confluent-kafka" else reset
    settings = {"group_id": "g", "client_id": ME, "auto_offset_reset": policy, "fetch_max_wait_ms": 5000}
    return client.consumer(double.bootstrap_servers, partitions=[T], **settings)


def read_to_the_end(double: KafkaDouble, consumer: Consumer) -> None:
    assert [seen.offset for seen in consumer.read(READ)] == list(range(READ))

    def position() -> list[int]:
        # Some clients send nothing unless they are polled.
        assert consumer.poll(0.05) == []
        return last_fetch_offset(double)

    eventually(position, lambda last: last == [READ])


def last_fetch_offset(double: KafkaDouble) -> list[int]:
    """The fetch offset of the reader's newest Fetch: the end of the log, once the reader waits for
    more."""
    return [one.fetch_offset for one in fetched(double)][-1:]


def fetched(double: KafkaDouble) -> list[Any]:
    """The partition in each Fetch of the reader that names it."""
    bodies: list[Any] = [seen.body for seen in double.requests.of("Fetch", client_id=ME)]
    return [part for body in bodies for topic in body.topics for part in topic.partitions]


def epoch_requests(double: KafkaDouble) -> list[Any]:
    """The partition in each OffsetForLeaderEpoch of the reader."""
    bodies: list[Any] = [seen.body for seen in double.requests.of("OffsetForLeaderEpoch", client_id=ME)]
    return [part for body in bodies for topic in body.topics for part in topic.partitions]


TRUNCATION_ERRORS = {
    "confluent-kafka": r"_AUTO_OFFSET_RESET: Partition log truncation detected at offset 5 \(leader epoch 0\): broker end offset is 3",
    "kafka-python": r"LogTruncationError.*offset=3.*leader_epoch=0",
    "aiokafka": "OffsetOutOfRangeError",
}
"""The error that an application without a reset policy gets. aiokafka does not know leader epochs:
it reports an offset out of range."""


def test_lost_records_are_reported_to_an_application_without_a_reset_policy(
    double: KafkaDouble, client: Client
) -> None:
    with reader(double, client, "none") as consumer:
        read_to_the_end(double, consumer)
        double.truncate("t", 0, LEFT)
        with pytest.raises(Refused, match=TRUNCATION_ERRORS[client.name]):
            consumer.read(1)


FROM = {"confluent-kafka": LEFT, "kafka-python": LEFT, "aiokafka": 0}
"""The offset at which a client with the policy `earliest` continues: where the logs diverge, if the
client can find out."""


def test_a_reset_policy_goes_on_where_the_histories_part(double: KafkaDouble, client: Client) -> None:
    with reader(double, client, "earliest") as consumer:
        read_to_the_end(double, consumer)
        double.truncate("t", 0, LEFT)
        double.produce("t", "new 3")
        seen = consumer.read(LEFT + 1 - FROM[client.name])
        assert [one.offset for one in seen] == list(range(FROM[client.name], LEFT + 1))
        assert seen[-1].value == b"new 3"
    assert habits(double) == written(client.name)


def test_another_epoch_without_a_loss_is_nothing_to_the_application(double: KafkaDouble, client: Client) -> None:
    with reader(double, client, "none") as consumer:
        read_to_the_end(double, consumer)
        for epoch in (1, 2, 3):
            assert double.bump_epoch("t", 0) == epoch
            offset = double.produce("t", f"in {epoch}")
            assert [(seen.offset, seen.value) for seen in consumer.read(1)] == [(offset, f"in {epoch}".encode())]


@pytest.mark.clients(names=("confluent-kafka", "kafka-python"))
def test_a_loss_that_the_log_has_grown_over_is_found_all_the_same(double: KafkaDouble, client: Client) -> None:
    with reader(double, client, "earliest") as consumer:
        read_to_the_end(double, consumer)
        with double.delay("OffsetForLeaderEpoch", 1.0):
            double.truncate("t", 0, LEFT)
            for offset in range(LEFT, READ + 3):
                double.produce("t", f"new {offset}")
            seen = consumer.read(READ + 3 - LEFT)
        assert [(one.offset, one.value) for one in seen] == [(n, f"new {n}".encode()) for n in range(LEFT, READ + 3)]


def test_a_producer_goes_on_in_the_next_epoch(double: KafkaDouble, client: Client) -> None:
    with client.producer(double.bootstrap_servers) as producer:
        assert producer.send("t", [Record(b"a")]) == [READ]
        double.bump_epoch("t", 0)
        assert producer.send("t", [Record(b"b")]) == [READ + 1]
    assert double.epochs("t", 0) == {0: 0, 1: READ + 1}


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def reset() -> str:
    """The reset policy of Kafka's own consumer, unless the test gives another."""
    return "none"


@pytest.fixture
def java(double: KafkaDouble, protocol: str, reset: str) -> Iterator[Reader]:
    """Kafka's own consumer, after it has read all records."""
    try:
        with reading(double.bootstrap_servers, "t", reset=reset, protocol=protocol) as running:
            assert [running.next_event()[:3] for _ in range(READ)] == [["record", str(n), "0"] for n in range(READ)]
            eventually(lambda: last_fetch_offset(double), lambda last: last == [READ])
            yield running
    except Missing as missing:
        pytest.skip(f"Kafka's own consumer cannot run here: {missing}")


def test_java_throws_a_log_truncation_that_names_where_the_histories_part(double: KafkaDouble, java: Reader) -> None:
    double.truncate("t", 0, LEFT)
    assert java.next_event() == ["truncated", str(READ), str(LEFT), "0"]
    double.produce("t", "new")
    assert java.next_event() == ["record", str(LEFT), "1", "new"]


@pytest.mark.parametrize("reset", ["earliest"])
def test_java_with_a_reset_policy_goes_on_where_the_histories_part(double: KafkaDouble, java: Reader) -> None:
    double.truncate("t", 0, LEFT)
    double.produce("t", "new")
    assert java.next_event() == ["record", str(LEFT), "1", "new"]
    assert habits(double) == written(JAVA)


def test_java_reads_on_in_another_epoch_without_a_loss(double: KafkaDouble, java: Reader) -> None:
    double.bump_epoch("t", 0)
    double.produce("t", "next")
    assert java.next_event() == ["record", str(READ), "1", "next"]


class Habits(NamedTuple):
    """What a client sends, by the names of the table's columns."""

    fetch_names_leader_epoch: bool
    fetch_names_last_epoch: bool
    requests_epoch_ends: bool


def habits(double: KafkaDouble) -> Habits:
    """What the reader has sent until now."""
    return Habits(
        any(one.current_leader_epoch >= 0 for one in fetched(double)),
        any(one.last_fetched_epoch >= 0 for one in fetched(double)),
        bool(epoch_requests(double)),
    )


def written(name: str) -> Habits:
    """The row of a client in the page."""
    (row,) = re.findall(rf"^\| {re.escape(name)} .*$", PAGE.read_text(), re.MULTILINE)
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert set(cells[1:4]) <= {"yes", "no"}, row
    return Habits(*(cell == "yes" for cell in cells[1:4]))


def test_the_page_has_a_row_for_every_client() -> None:
    for name in (JAVA, *(client.name for client in CLIENTS)):
        written(name)
