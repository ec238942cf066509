"""A partition as a value, and the lag of groups."""

from __future__ import annotations

import pytest

from kafkadouble import KafkaDouble, KafkaError, PartitionState, UsageError
from kafkadouble.messages.generated.offset_commit import OffsetCommitRequest
from tests.support.client import ask


def commit(kafka: KafkaDouble, group: str, topic: str, offsets: dict[int, int]) -> None:
    part = OffsetCommitRequest.OffsetCommitRequestPartition
    partitions = [part(partition_index=index, committed_offset=offset) for index, offset in offsets.items()]
    topics = [OffsetCommitRequest.OffsetCommitRequestTopic(name=topic, partitions=partitions)]
    kafka.move_coordinator(group, to=1)
    host, port = kafka.bootstrap_servers.split(",")[0].split(":")
    answer = ask((host, int(port)), OffsetCommitRequest(group_id=group, topics=topics), 9)
    assert not any(each.error_code for topic in answer.topics for each in topic.partitions)


def test_a_partition_as_a_value() -> None:
    with KafkaDouble() as kafka:
        kafka.create_topic("orders")
        for _ in range(3):
            kafka.produce("orders", "x")
        kafka.bump_epoch("orders", 0)
        kafka.produce("orders", "x")
        kafka.hang_transaction("orders", 0)
        assert kafka.partition("orders", 0) == PartitionState(
            topic="orders",
            partition=0,
            leader=1,
            leader_epoch=1,
            replicas=(1,),
            isr=(1,),
            start_offset=0,
            end_offset=5,
            high_watermark=5,
            last_stable_offset=4,
            epochs={0: 0, 1: 3},
        )
        with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION: there is no orders-1"):
            kafka.partition("orders", 1)
        with pytest.raises(UsageError, match="partition is an index from 0, not '0'"):
            kafka.partition("orders", "0")  # type: ignore[arg-type]


def test_a_partition_without_a_leader() -> None:
    with KafkaDouble(brokers=2, stepped=True) as kafka:
        kafka.create_topic("orders")
        kafka.produce("orders", "x")
        leader = kafka.leader("orders", 0)
        assert leader is not None
        assert kafka.partition("orders", 0).end_offset == 1
        kafka.brokers[leader].kill()
        assert kafka.partition("orders", 0).end_offset is None
        kafka.advance(20)
        found = kafka.partition("orders", 0)
        assert (found.leader, found.replicas, found.epochs) == (None, (leader,), None)


def test_the_lag_of_a_group() -> None:
    with KafkaDouble() as kafka:
        kafka.create_topic("orders", partitions=3)
        for partition in (0, 0, 0, 1):
            kafka.produce("orders", "x", partition=partition)
        commit(kafka, "shop", "orders", {0: 1, 1: 1})
        group = kafka.groups()["shop"]
        assert (group.lags, group.lag) == ({("orders", 0): 2, ("orders", 1): 0}, 2)
        commit(kafka, "shop", "orders", {1: 9})
        assert kafka.groups()["shop"].lags["orders", 1] == 0


def test_no_lag_is_known_of_a_partition_without_a_leader() -> None:
    with KafkaDouble(brokers=2, stepped=True) as kafka:
        kafka.create_topic("orders", partitions=2)
        kafka.produce("orders", "x", partition=0)
        kafka.produce("orders", "x", partition=1)
        commit(kafka, "shop", "orders", {0: 0, 1: 0})
        assert kafka.groups()["shop"].lags == {("orders", 0): 1, ("orders", 1): 1}
        (led_by_1,) = (index for index in (0, 1) if kafka.leader("orders", index) == 1)
        kafka.brokers[2].kill()
        kafka.advance(20)
        assert kafka.groups()["shop"].lags == {("orders", led_by_1): 1}
