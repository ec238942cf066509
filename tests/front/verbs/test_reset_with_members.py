"""A reset while clients are members of groups: a state that no Kafka has."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from confluent_kafka import Consumer

from kafkadouble import KafkaDouble
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.heartbeat import HeartbeatRequest
from kafkadouble.messages.generated.join_group import JoinGroupRequest
from kafkadouble.messages.generated.offset_commit import OffsetCommitRequest
from kafkadouble.messages.generated.sync_group import SyncGroupRequest
from kafkadouble.messages.message import Message
from tests.support.client import ask

from .members import join

MEMBER = "aaaaaaaaaaaaaaaaaaaaaa"
SESSION_MS = 30_000


@pytest.fixture(params=[1, 3])
def kafka(request: pytest.FixtureRequest) -> Iterator[KafkaDouble]:
    with KafkaDouble(brokers=request.param, config={"group.initial.rebalance.delay.ms": 0}) as kafka:
        yield kafka


def at_coordinator(kafka: KafkaDouble, body: Message, version: int) -> Any:
    """What the coordinator of the group answers, once it is there."""
    find = FindCoordinatorRequest(key_type=0, coordinator_keys=["g"])
    while (coordinator := ask(("127.0.0.1", kafka.port), find, 4).coordinators[0]).error_code:
        pass
    while True:
        answer = ask((coordinator.host, coordinator.port), body, version)
        if getattr(answer, "error_code", 0) != error_codes.NOT_COORDINATOR:
            return answer


def commit(kafka: KafkaDouble, member: str, generation: int = 1) -> int:
    of = OffsetCommitRequest
    partition = of.OffsetCommitRequestPartition(partition_index=0, committed_offset=17)
    body = of(
        group_id="g",
        generation_id_or_member_epoch=generation,
        member_id=member,
        topics=[of.OffsetCommitRequestTopic(name="orders", partitions=[partition])],
    )
    (topic,) = at_coordinator(kafka, body, 9).topics
    return int(topic.partitions[0].error_code)


def test_a_member_is_told_that_its_group_rebalances_and_its_commits_are_not_kept(kafka: KafkaDouble) -> None:
    kafka.create_topic("orders")
    member = join(kafka, "g", SESSION_MS)
    kafka.reset()
    assert commit(kafka, member) == 0, "without the topic"
    kafka.create_topic("orders")
    heartbeat = HeartbeatRequest(group_id="g", generation_id=1, member_id=member)
    assert at_coordinator(kafka, heartbeat, 4).error_code == error_codes.REBALANCE_IN_PROGRESS
    sync = SyncGroupRequest(group_id="g", generation_id=1, member_id=member)
    assert at_coordinator(kafka, sync, 3).error_code == error_codes.REBALANCE_IN_PROGRESS
    assert commit(kafka, member) == 0
    assert kafka.groups() == {}


def test_a_member_that_joins_again_is_a_stranger(kafka: KafkaDouble) -> None:
    kafka.create_topic("orders")
    member = join(kafka, "g", SESSION_MS)
    kafka.reset()
    kafka.create_topic("orders")
    again = JoinGroupRequest(
        group_id="g",
        session_timeout_ms=SESSION_MS,
        rebalance_timeout_ms=SESSION_MS,
        member_id=member,
        protocol_type="consumer",
        protocols=[JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=b"")],
    )
    assert at_coordinator(kafka, again, 5).error_code == error_codes.UNKNOWN_MEMBER_ID
    assert commit(kafka, member) == error_codes.GROUP_ID_NOT_FOUND
    assert commit(kafka, join(kafka, "g", SESSION_MS)) == 0
    assert kafka.groups()["g"].offsets["orders", 0].offset == 17


def test_a_member_of_a_consumer_group_is_fenced_and_commits_again_when_it_has_joined(kafka: KafkaDouble) -> None:
    kafka.create_topic("orders")
    of = ConsumerGroupHeartbeatRequest
    joining = of(
        group_id="g",
        member_id=MEMBER,
        rebalance_timeout_ms=SESSION_MS,
        subscribed_topic_names=["orders"],
        topic_partitions=[],
    )
    epoch = at_coordinator(kafka, joining, 1).member_epoch
    kafka.reset()
    kafka.create_topic("orders")
    going_on = of(group_id="g", member_id=MEMBER, member_epoch=epoch)
    assert at_coordinator(kafka, going_on, 1).error_code == error_codes.FENCED_MEMBER_EPOCH
    assert commit(kafka, MEMBER, epoch) == 0
    epoch = at_coordinator(kafka, joining, 1).member_epoch
    assert commit(kafka, MEMBER, epoch + 1) == error_codes.STALE_MEMBER_EPOCH
    assert commit(kafka, MEMBER, epoch) == 0
    assert kafka.groups()["g"].offsets["orders", 0].offset == 17


def test_members_are_remembered_over_two_resets(kafka: KafkaDouble) -> None:
    kafka.create_topic("orders")
    member = join(kafka, "g", SESSION_MS)
    kafka.reset()
    kafka.reset()
    assert commit(kafka, member) == 0
    assert kafka.groups() == {}


def test_a_consumer_that_polls_and_commits_outlives_resets(kafka: KafkaDouble) -> None:
    settings = {"group.id": "g", "auto.offset.reset": "earliest", "enable.auto.commit": False}
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap_servers, **settings})
    consumer.subscribe(["orders"])
    for number in range(3):
        kafka.create_topic("orders")
        kafka.produce("orders", f"{number}")
        while (message := consumer.poll(0.1)) is None or message.error():
            pass
        assert message.value() == b"%d" % number
        consumer.commit(asynchronous=False)
        kafka.reset()
    consumer.close()


def test_resets_of_several_threads_are_made_one_by_one(kafka: KafkaDouble) -> None:
    def reset_and_create() -> None:
        with kafka._double_host.serving().replacing:
            kafka.reset()
            kafka.create_topic("orders")

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(reset_and_create) for _ in range(8)]:
            done.result()
    assert list(kafka.topics()) == ["orders"]
