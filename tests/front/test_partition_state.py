"""A partition as a value, and the lag of groups."""

from __future__ import annotations

import pytest

from kafkadouble import KafkaDouble, KafkaError, PartitionState, UsageError


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
        leader = kafka.wait_for_leader("orders", 0)
        assert kafka.partition("orders", 0).end_offset == 1
        kafka.brokers[leader].kill()
        assert kafka.partition("orders", 0).end_offset is None
        kafka.advance(20)
        partition = kafka.partition("orders", 0)
        assert (partition.leader, partition.replicas, partition.epochs) == (None, (leader,), None)
