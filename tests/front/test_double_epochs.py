"""What a KafkaDouble does to leader epochs, also while clients are connected."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from kafkadouble import KafkaDouble, KafkaError


@pytest.fixture
def kafka() -> Iterator[KafkaDouble]:
    with KafkaDouble(seed=1) as kafka:
        kafka.create_topic("t", 2)
        yield kafka


def values(kafka: KafkaDouble) -> list[bytes | None]:
    return [record.value for record in kafka.records("t", 1)]


def test_bump_epoch_begins_a_leader_epoch(kafka: KafkaDouble) -> None:
    kafka.produce("t", "a", partition=1)
    assert kafka.leader_epoch("t", 1) == 0
    assert kafka.bump_epoch("t", 1) == 1
    assert (kafka.leader_epoch("t", 1), kafka.epochs("t", 1)) == (1, {0: 0, 1: 1})
    assert (kafka.leader_epoch("t", 0), kafka.epochs("t", 0)) == (0, {0: 0})
    assert values(kafka) == [b"a"]


def test_epoch_verbs_on_unknown_partition_are_refused(kafka: KafkaDouble) -> None:
    for call in (kafka.bump_epoch, kafka.leader_epoch, kafka.epochs):
        with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION: there is no t-2"):
            call("t", 2)
        with pytest.raises(KafkaError, match="there is no nowhere-0"):
            call("nowhere", 0)
    with pytest.raises(KafkaError, match="there is no __cluster_metadata-0"):
        kafka.truncate("__cluster_metadata", 0, 0)
    kafka.produce("t", "a", partition=1)
    for offset in (-1, 2):
        with pytest.raises(KafkaError, match=f"OFFSET_OUT_OF_RANGE: t-1 holds .* from 0 to 1: .* at {offset}"):
            kafka.truncate("t", 1, offset)
    assert kafka.epochs("t", 1) == {0: 0}


def test_a_group_loses_its_last_commit(kafka: KafkaDouble) -> None:
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap_servers, "group.id": "g"})
    partition = next(index for index in range(50) if _commits(consumer, kafka, index))
    consumer.commit(offsets=[TopicPartition("t", 1, 7)], asynchronous=False)
    assert kafka.groups()["g"].offsets["t", 1].offset == 7
    kafka.truncate("__consumer_offsets", partition, 1)
    assert kafka.groups()["g"].offsets["t", 1].offset == 5
    consumer.commit(offsets=[TopicPartition("t", 1, 6)], asynchronous=False)
    assert kafka.groups()["g"].offsets["t", 1].offset == 6
    consumer.close()


def _commits(consumer: Consumer, kafka: KafkaDouble, index: int) -> bool:
    """Whether that partition of `__consumer_offsets` holds what the consumer committed. The call
    for partition 0 commits first."""
    if index == 0:
        consumer.commit(offsets=[TopicPartition("t", 1, 5)], asynchronous=False)
    return bool(kafka.records("__consumer_offsets", index))


def test_a_client_that_waits_gets_what_comes_in_the_next_epoch(kafka: KafkaDouble) -> None:
    settings = {"bootstrap.servers": kafka.bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest"}
    consumer = Consumer(settings)
    consumer.assign([TopicPartition("t", 1, 0)])
    seen = []
    for value in "abc":
        kafka.produce("t", value, partition=1)
        message = consumer.poll(20)
        assert message is not None
        seen.append((message.value(), message.leader_epoch()))
        kafka.bump_epoch("t", 1)
    assert seen == [(b"a", 0), (b"b", 1), (b"c", 2)]
    consumer.close()


def test_truncated_records_stay_lost_after_a_restart(tmp_path: Path) -> None:
    with KafkaDouble(data_dir=tmp_path) as kafka:
        kafka.create_topic("t", 2)
        for value in "abc":
            kafka.produce("t", value, partition=1)
        kafka.truncate("t", 1, 2)
        kafka.bump_epoch("t", 1)
        kafka.produce("t", "d", partition=1)
        assert kafka.epochs("t", 1) == {0: 0, 2: 2}
    with KafkaDouble(data_dir=tmp_path) as kafka:
        assert values(kafka) == [b"a", b"b", b"d"]
        begun = kafka.leader_epoch("t", 1)
        assert begun > 2
        assert kafka.epochs("t", 1) == {0: 0, 2: 2, begun: 3}
        kafka.truncate("t", 1, 0)
    with KafkaDouble(data_dir=tmp_path) as kafka:
        assert values(kafka) == []
        assert kafka.epochs("t", 1) == {kafka.leader_epoch("t", 1): 0}
