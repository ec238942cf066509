"""What an administrator changes of topics and groups that are there."""

from __future__ import annotations

import pytest

from kafkadouble import KafkaDouble, KafkaError

from .members import join


def test_a_topic_gets_more_partitions(kafka: KafkaDouble) -> None:
    kafka.create_partitions("t", 5)
    assert sorted(kafka.topics()["t"].partitions) == [0, 1, 2, 3, 4]
    with pytest.raises(KafkaError, match="INVALID_PARTITIONS"):
        kafka.create_partitions("t", 5)
    with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION"):
        kafka.create_partitions("nowhere", 5)


def test_configs_of_a_topic_are_set_and_brought_back(kafka: KafkaDouble) -> None:
    kafka.set_topic_config("t", {"retention.ms": 1000, "cleanup.policy": "compact"})
    kafka.set_topic_config("t", {"cleanup.policy": None})
    assert kafka.topics()["t"].configs == {"retention.ms": "1000"}
    with pytest.raises(KafkaError, match="INVALID_CONFIG"):
        kafka.set_topic_config("t", {"retention.ms": "soon"})
    with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION"):
        kafka.set_topic_config("nowhere", {"retention.ms": 1})


@pytest.mark.parametrize("brokers", [1, 3])
def test_records_are_deleted_up_to_an_offset_or_to_the_end(brokers: int) -> None:
    with KafkaDouble(brokers=brokers) as kafka:
        kafka.create_topic("t", 2, replication_factor=brokers)
        kafka.produce_all("t", ["a", "b", "c"], partition=1)
        assert kafka.delete_records("t", 1, 2) == 2
        assert [record.value for record in kafka.records("t")] == [b"c"]
        assert kafka.delete_records("t", 1) == 3
        assert kafka.records("t") == []
        with pytest.raises(KafkaError, match="OFFSET_OUT_OF_RANGE"):
            kafka.delete_records("t", 1, 9)
        with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION"):
            kafka.delete_records("t", 9)


def test_every_member_of_a_group_is_removed() -> None:
    with KafkaDouble(config={"group.initial.rebalance.delay.ms": 0}) as kafka:
        join(kafka, "g", 30_000)
        assert kafka.remove_members("g") == 1
        assert kafka.groups()["g"].members == ()
        assert kafka.remove_members("g") == 0
        with pytest.raises(KafkaError, match="GROUP_ID_NOT_FOUND"):
            kafka.remove_members("none")
