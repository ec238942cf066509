"""wait_for_group(ready=True): no record is lost that is produced after it, and what it says when it
cannot tell."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from confluent_kafka import Consumer, TopicPartition

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.coordinators.group_values import Group
from tests.support.waiting import eventually

pytest.importorskip("kafka")  # its import has warnings

from tests.support.latest_consumers import LIBRARIES, TOPIC, reading

ROUNDS = int(os.environ.get("READY_ROUNDS", "1"))
"""How often each client joins; 50 in a long run."""

RECORDS = 40

SOON = {
    "group.initial.rebalance.delay.ms": 0,
    "group.consumer.min.heartbeat.interval.ms": 100,
    "group.consumer.heartbeat.interval.ms": 100,
    "group.share.min.heartbeat.interval.ms": 100,
    "group.share.heartbeat.interval.ms": 100,
}


@pytest.fixture
def kafka() -> Iterator[KafkaDouble]:
    with KafkaDouble(config=SOON) as kafka:
        kafka.create_topic(TOPIC, partitions=2)
        yield kafka


def produced(kafka: KafkaDouble, prefix: str) -> list[bytes]:
    values = [f"{prefix} {number}" for number in range(RECORDS)]
    for number, value in enumerate(values):
        kafka.produce(TOPIC, value, partition=number % 2)
    return [value.encode() for value in values]


def arrive(taken: list[bytes], expected: list[bytes]) -> None:
    """The records arrive. There is no more precise end of a loss than a time-out."""
    eventually(lambda: set(expected) - set(taken), lambda missing: not missing, within=10)


@pytest.mark.parametrize("library", LIBRARIES)
def test_no_record_is_lost_while_members_of_a_ready_group_come_and_go(kafka: KafkaDouble, library: str) -> None:
    for number in range(ROUNDS):
        taken: list[bytes] = []
        with ExitStack() as first:
            first.enter_context(reading(library, kafka.bootstrap_servers, taken))
            kafka.wait_for_group("shop", members=1, ready=True, timeout=30)
            arrive(taken, produced(kafka, f"one {number}"))
            with reading(library, kafka.bootstrap_servers, taken):
                kafka.wait_for_group("shop", members=2, ready=True, timeout=30)
                arrive(taken, produced(kafka, f"two {number}"))
            kafka.wait_for_group("shop", members=1, ready=True, timeout=30)
            arrive(taken, produced(kafka, f"one again {number}"))
        kafka.wait_for_group("shop", members=0, state="Empty", timeout=30)
        kafka.delete_group("shop")


def joined(kafka: KafkaDouble, **more: object) -> Consumer:
    """A consumer that has its partitions, and fetches them in the background."""
    consumer = Consumer(
        {"bootstrap.servers": kafka.bootstrap_servers, "group.id": "shop", "auto.offset.reset": "latest", **more}
    )
    consumer.subscribe([TOPIC])
    while not consumer.assignment():
        consumer.poll(0.05)
    return consumer


def test_owner_that_was_expired_and_goes_on_fetching_makes_no_other_member_ready(kafka: KafkaDouble) -> None:
    old = joined(kafka)
    group: Group = kafka.wait_for_group("shop", members=1, ready=True, timeout=30)
    (member,) = group.members
    kafka.pause("Heartbeat", member_id=member.id)
    kafka.expire_member("shop", member.id)
    taken: list[bytes] = []
    with reading("confluent-kafka", kafka.bootstrap_servers, taken):
        kafka.wait_for_group("shop", members=1, ready=True, timeout=30)
        arrive(taken, produced(kafka, "moved"))
    kafka.clear_rules()
    old.close()


def test_member_that_joins_again_is_not_ready_before_it_has_its_position(kafka: KafkaDouble) -> None:
    consumer = joined(kafka, **{"client.id": "till"})
    kafka.wait_for_group("shop", members=1, ready=True, timeout=30)
    kafka.pause("ListOffsets")
    kafka.pause("Fetch")
    kafka.rebalance("shop")
    with pytest.raises(
        TimeoutError, match=r"ready: not within 0.5 s\. There is: the group shop in the state \w+, 1 member"
    ):
        kafka.wait_for_group("shop", members=1, ready=True, timeout=0.5)
    kafka.clear_rules()
    consumer.close()


def test_partition_that_is_paused_is_named(kafka: KafkaDouble) -> None:
    def pause(consumer: Consumer, partitions: list[TopicPartition]) -> None:
        consumer.assign(partitions)
        consumer.pause(partitions)

    consumer = Consumer({"bootstrap.servers": kafka.bootstrap_servers, "group.id": "shop", "client.id": "till"})
    consumer.subscribe([TOPIC], on_assign=pause)
    while not consumer.assignment():
        consumer.poll(0.05)
    message = (
        "orders-0, orders-1 not fetched since assigned to the member till-.*, "
        "which has the client id 'till' and the host 127.0.0.1"
    )
    with pytest.raises(TimeoutError, match=message):
        kafka.wait_for_group("shop", "Stable", ready=True, timeout=0.2)
    consumer.resume(consumer.assignment())
    kafka.wait_for_group("shop", "Stable", ready=True, timeout=30)
    consumer.close()


def test_clients_that_cannot_be_told_apart_are_named(kafka: KafkaDouble) -> None:
    loner = Consumer({"bootstrap.servers": kafka.bootstrap_servers, "group.id": "other", "auto.offset.reset": "latest"})
    loner.assign([TopicPartition(TOPIC, 0), TopicPartition(TOPIC, 1)])
    loner.poll(0.1)
    for partition in (0, 1):
        kafka.wait_for_request("Fetch", topic=TOPIC, partition=partition, timeout=30)
    rule = kafka.pause("ListOffsets")
    consumer = joined(kafka)
    message = (
        "orders-0, orders-1 of the member .* may be fetched by another client: several have the client id 'rdkafka'"
    )
    with pytest.raises(TimeoutError, match=message):
        kafka.wait_for_group("shop", ready=True, timeout=1)
    rule.remove()
    kafka.wait_for_group("shop", ready=True, timeout=30)
    for each in (consumer, loner):
        each.close()


def test_group_without_members_or_partitions_is_not_ready(kafka: KafkaDouble) -> None:
    with pytest.raises(
        TimeoutError, match=r"with members that are ready: .* there is no group 'shop', and no other one"
    ):
        kafka.wait_for_group("shop", ready=True, timeout=0)
    with pytest.raises(UsageError, match="only a group with members in the state Stable is ready"):
        kafka.wait_for_group("shop", "Empty", ready=True)
    with pytest.raises(UsageError, match="ready is True or False, not 1"):
        kafka.wait_for_group("shop", ready=1)  # type: ignore[arg-type]


async def test_coroutine_waits_for_a_ready_group_too(kafka: KafkaDouble) -> None:
    consumer = joined(kafka)
    group = await kafka.aio.wait_for_group("shop", ready=True, timeout=30)
    assert [len(member.assignment) for member in group.members] == [2]
    consumer.close()


async def test_share_member_is_ready_when_it_has_fetched(kafka: KafkaDouble) -> None:
    from confluent_kafka import ShareConsumer

    taken: list[bytes] = []
    consumer = ShareConsumer({"bootstrap.servers": kafka.bootstrap_servers, "group.id": "tills"})
    consumer.subscribe([TOPIC])
    wait = kafka.aio.wait_for_group("tills", ready=True, timeout=30)

    waiting = asyncio.ensure_future(wait)
    while not waiting.done():
        await asyncio.to_thread(consumer.poll, 0.05)
    await waiting
    expected = produced(kafka, "shared")
    end = time.monotonic() + 10
    while len(taken) < RECORDS and time.monotonic() < end:
        taken += [message.value() or b"" for message in consumer.poll(0.1)]
    assert sorted(taken) == sorted(expected)
    consumer.close()


def test_group_is_ready_in_a_cluster_and_after_its_coordinator_moved() -> None:
    with KafkaDouble(brokers=3, config=SOON) as kafka:
        kafka.create_topic(TOPIC, partitions=2, replication_factor=3)
        taken: list[bytes] = []
        with reading("confluent-kafka", kafka.bootstrap_servers, taken):
            kafka.wait_for_group("shop", ready=True, timeout=30)
            arrive(taken, produced(kafka, "before"))
            kafka.move_leader(TOPIC, 0, next(id for id in (1, 2, 3) if id != kafka.leader(TOPIC, 0)))
            kafka.wait_for_group("shop", ready=True, timeout=30)
            arrive(taken, produced(kafka, "after"))


def test_reset_forgets_the_fetches_of_members(kafka: KafkaDouble) -> None:
    consumer = joined(kafka)
    kafka.wait_for_group("shop", ready=True, timeout=30)
    known = kafka._double_host.serving().broker.member_fetches
    assert "1 groups" in repr(known)
    kafka.reset()
    assert kafka._double_host.serving().broker.member_fetches is not known
    consumer.close()
