"""The verbs of a real Kafka over the wire, with a double of three brokers in its place: what they
read is what the double itself says."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from kafkadouble import KafkaDouble, KafkaError, UsageError
from kafkadouble.external.real_kafka import RealKafka
from kafkadouble.external.remote.served import OnlyOnDouble

if TYPE_CHECKING:
    from kafkadouble.common.literals import IsolationLevel


@pytest.fixture
def double() -> Iterator[KafkaDouble]:
    with KafkaDouble(brokers=3, acls=[], super_users=["User:ANONYMOUS"]) as double:
        yield double


@pytest.fixture
def kafka(double: KafkaDouble) -> Iterator[Any]:
    """Any, as its verbs are those of KafkaDouble."""
    with RealKafka(double.bootstrap_servers, {"bootstrap.servers": double.bootstrap_servers}) as kafka:
        yield kafka


def test_records_of_every_leader_are_those_of_the_double(double: KafkaDouble, kafka: Any) -> None:
    kafka.create_topic("orders", 6, {"max.message.bytes": 2000}, replication_factor=3)
    assert kafka.produce_all("orders", [{"key": str(number), "value": bytes(500)} for number in range(100)]) == 100
    assert kafka.produce("orders", "last", partition=5, headers={"a": "b"}, timestamp=7) >= 0
    assert kafka.end_offsets("orders") == double.end_offsets("orders")
    assert kafka.records("orders") == double.records("orders")
    assert kafka.topics() == double.topics()
    assert kafka.topics(internal=True).keys() == double.topics(internal=True).keys()
    with pytest.raises(KafkaError, match=r"MESSAGE_TOO_LARGE: record 1: "):
        kafka.produce_all("orders", [bytes(3000)])


def test_topics_change_as_those_of_the_double(double: KafkaDouble, kafka: Any) -> None:
    kafka.create_topic("orders", replication_factor=3)
    kafka.produce_all("orders", ["a", "b", "c"])
    kafka.create_partitions("orders", 3)
    kafka.set_topic_config("orders", {"retention.ms": 1000})
    assert kafka.delete_records("orders", 0, 2) == 2
    assert [record.value for record in kafka.records("orders")] == [b"c"]
    assert kafka.topics() == double.topics()
    with pytest.raises(KafkaError, match="INVALID_PARTITIONS"):
        kafka.create_partitions("orders", 3)


def test_records_of_transactions_are_those_of_the_double(double: KafkaDouble, kafka: Any) -> None:
    double.create_topic("orders", replication_factor=3)
    double.produce("orders", "before")
    double.hang_transaction("orders", 0, "open")
    double.produce("orders", "behind")
    levels: tuple[tuple[IsolationLevel, int], ...] = (("read_uncommitted", 3), ("read_committed", 1))
    for isolation, count in levels:
        records = kafka.records("orders", isolation=isolation)
        assert records == double.records("orders", isolation=isolation)
        assert len(records) == count


def test_groups_of_every_coordinator_are_those_of_the_double(double: KafkaDouble, kafka: Any) -> None:
    kafka.create_topic("orders", 2)
    kafka.produce_all("orders", ["a", "b", "c", "d"])
    for number in range(6):
        kafka.commit_offsets(f"shop-{number}", {("orders", 0): number % 2, ("orders", 1): 0})
    assert kafka.groups() == double.groups()
    assert kafka.reset_offsets("shop-3", "orders", "latest", partition=0) == {("orders", 0): 2}
    assert kafka.wait_for_group("shop-3", "Empty", members=0).offsets["orders", 0].offset == 2
    kafka.delete_group("shop-3")
    assert "shop-3" not in double.groups()
    with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION"):
        kafka.commit_offsets("shop", {("none", 0): 0})


def test_leaders_and_their_epochs_are_those_of_the_double(double: KafkaDouble, kafka: Any) -> None:
    kafka.create_topic("orders", 3, replication_factor=3)
    kafka.produce("orders", "a", partition=1)
    first = double.leader("orders", 1)
    double.move_leader("orders", 1, next(id for id in (1, 2, 3) if id != first))
    kafka.produce("orders", "b", partition=1)
    assert kafka.partition("orders", 1) == double.partition("orders", 1)
    assert kafka.epochs("orders", 1) == {0: 0, 1: 1}
    assert kafka.elect_leaders("orders") == {("orders", 1): first}
    assert kafka.wait_for_leader("orders", 1, first, epoch=2) == first
    kafka.reassign("orders", 0, [2, 3])
    kafka.wait_for_isr("orders", 0, [2, 3])


def test_broker_that_died_is_seen(double: KafkaDouble, kafka: Any) -> None:
    kafka.create_topic("orders", replication_factor=3)
    double.brokers[3].kill()
    double.expire_session(3)
    kafka.wait_for_isr("orders", 0, [1, 2])
    assert [broker.state for broker in kafka.describe_cluster().brokers.values()] == ["running", "running", "stopped"]
    assert kafka.describe_cluster().cluster_id == double.describe_cluster().cluster_id
    with pytest.raises(TimeoutError, match=r"broker 3 in the cluster: not within 0 s. There is: the brokers \[1, 2\]"):
        kafka.wait_for_broker(3, timeout=0)


def test_acls_and_quotas_are_those_of_the_double(double: KafkaDouble, kafka: Any) -> None:
    kafka.create_acls(["User:bob allow READ topic:orders"])
    assert kafka.acls == double.acls == ["User:bob allow READ topic:orders"]
    assert kafka.delete_acls(["User:bob allow READ topic:orders"]) == ["User:bob allow READ topic:orders"]
    with pytest.raises(UsageError, match="give at least one quota"):
        kafka.set_quota(user="bob")


def test_time_out_says_what_that_of_a_double_says(double: KafkaDouble, kafka: Any) -> None:
    kafka.create_topic("orders")
    kafka.produce("orders", "a")
    kafka.commit_offsets("shop", {("orders", 0): 0})
    for verb, arguments in (
        ("wait_for_records", ("orders", 2)),
        ("wait_for_topic", ("order",)),
        ("wait_for_group", ("shop", "Stable")),
        ("wait_for_transaction", ("till", "Ongoing")),
    ):
        texts = []
        for each in (double, kafka):
            with pytest.raises(TimeoutError) as problem:
                getattr(each, verb)(*arguments, timeout=0)
            texts.append(str(problem.value))
        assert texts[0] == texts[1]


async def test_cancelled_wait_for_a_topic_ends(kafka: Any) -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(kafka.aio.wait_for_topic("orders", timeout=600), 0.05)


async def test_verbs_may_be_called_in_an_event_loop(kafka: Any) -> None:
    kafka.create_topic("orders")
    kafka.commit_offsets("shop", {("orders", 0): 0})
    assert list(kafka.groups()) == ["shop"]


@pytest.mark.parametrize("name", ["fail", "advance", "requests", "brokers", "down", "expire_member"])
def test_attribute_that_only_a_double_has_is_an_attribute_error(kafka: Any, name: str) -> None:
    assert kafka.is_real
    assert not hasattr(kafka, name)
    assert getattr(kafka, name, None) is None
    with pytest.raises(AttributeError, match=f"^{name}: only a .* has that, and this is <Kafka at 127"):
        getattr(kafka, name)


def test_state_that_no_request_reads_is_named_as_of_a_double(kafka: Any) -> None:
    broker = kafka._double_host.serving().broker
    for owner in (broker, broker.members[0].node):
        with pytest.raises(OnlyOnDouble, match=r"^history: only a double has that, and no request"):
            getattr(owner, "history")  # noqa: B009
    with pytest.raises(OnlyOnDouble, match=r"^ready=True: only a double has that, and no request"):
        broker.member_fetches  # noqa: B018


async def test_wait_that_needs_a_double_or_a_thread_says_so(kafka: Any) -> None:
    with pytest.raises(UsageError, match=r"await the method of kafka.aio"):
        kafka.wait_for_topic("orders")
    with pytest.raises(OnlyOnDouble, match=r"^advance: only a double has that"):
        await kafka.aio.wait_for_topic("orders", advance=True)
    with pytest.raises(OnlyOnDouble, match=r"^fail: only a double has that"):
        await kafka.aio.fail("Produce", "NOT_LEADER_OR_FOLLOWER")
    await kafka.aio.create_topic("orders")
    with pytest.raises(OnlyOnDouble, match=r"^advance: only a double has that"):
        kafka.wait_for_topic("orders", advance=True)


def test_kafka_that_ended_is_an_error_of_kafka(double: KafkaDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafkadouble.external.remote.connections.ANSWER_MS", 100)
    with RealKafka(double.bootstrap_servers, {"bootstrap.servers": double.bootstrap_servers}) as kafka:
        double.stop()
        with pytest.raises(KafkaError, match=r"BROKER_NOT_AVAILABLE: .*refused"):
            kafka.topics()
