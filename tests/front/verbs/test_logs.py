"""Segments, retention, compaction and flushes on demand; topics and offsets as values."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from kafkadouble import KafkaDouble, KafkaError, UsageError
from kafkadouble.server.requests.waiting import SLICE


def brokers_of(kafka: KafkaDouble) -> list[int]:
    return kafka.isr("t", 0)


def latest_by_key(kafka: KafkaDouble, topic: str) -> list[tuple[bytes | None, bytes | None]]:
    return [(record.key, record.value) for record in kafka.records(topic)]


def test_a_roll_begins_a_segment(kafka: KafkaDouble) -> None:
    assert kafka.roll("t", 0) == 0, "an empty segment stays"
    kafka.produce("t", "a", partition=0)
    assert kafka.roll("t", 0) == 1
    assert kafka.roll("t", 0) == 1
    kafka.produce("t", "b", partition=0)
    assert kafka.roll("t", 0) == 2
    assert [record.value for record in kafka.records("t", 0)] == [b"a", b"b"]


def test_each_replica_has_the_segments(tmp_path: Path) -> None:
    with KafkaDouble(brokers=3, stepped=True, data_dir=tmp_path) as kafka:
        kafka.create_topic("t", replication_factor=3)
        kafka.produce("t", "a")
        kafka.roll("t", 0)
        segments = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.glob("broker-*/t-0/*.log"))
    names = ("00000000000000000000.log", "00000000000000000001.log")
    assert segments == [f"broker-{id}/t-0/{name}" for id in (1, 2, 3) for name in names]


def test_retention_deletes_closed_segments(kafka: KafkaDouble) -> None:
    kafka.create_topic("short", config={"retention.ms": 1000}, replication_factor=len(brokers_of(kafka)))
    kafka.produce("short", "old")
    kafka.roll("short", 0)
    kafka.advance(0.5)
    kafka.produce("short", "new")
    assert kafka.retain("short") == {0: 0}
    kafka.advance(0.7)
    assert kafka.retain("short", 0) == {0: 1}
    assert [record.value for record in kafka.records("short")] == [b"new"]
    for leader in brokers_of(kafka):
        kafka.move_leader("short", 0, to=leader)
        assert kafka.topics()["short"].partitions[0].start_offset == 1, "every replica has deleted it"


def test_a_client_sees_that_the_oldest_records_are_gone() -> None:
    with KafkaDouble() as kafka:
        kafka.create_topic("t", config={"retention.bytes": 1})
        kafka.produce("t", "old")
        kafka.roll("t", 0)
        kafka.produce("t", "new")
        kafka.retain("t")
        consumer = Consumer({"bootstrap.servers": kafka.bootstrap_servers, "group.id": "g"})
        assert consumer.get_watermark_offsets(TopicPartition("t", 0), timeout=10) == (1, 2)
        consumer.close()


def test_compaction_keeps_the_latest_of_each_key(kafka: KafkaDouble) -> None:
    brokers = brokers_of(kafka)
    kafka.create_topic("c", 2, {"cleanup.policy": "compact"}, replication_factor=len(brokers))
    for number in range(30):
        kafka.produce("c", str(number), key=f"key {number % 3}", partition=0)
    kafka.produce("c", "other", key="k", partition=1)
    kafka.compact("c")
    assert [value for _, value in latest_by_key(kafka, "c")] == [b"27", b"28", b"29", b"other"]
    assert kafka.end_offsets("c") == {0: 30, 1: 1}
    for leader in brokers:
        kafka.move_leader("c", 0, to=leader)
        # the high watermark of a follower may not have reached the last record yet
        assert len(kafka.records("c", 0)) in (3, 4), "every replica is compacted"
    kafka.produce("c", "30", key="key 0", partition=0)
    kafka.compact("c", 0)
    assert [value for _, value in latest_by_key(kafka, "c")] == [b"28", b"29", b"30", b"other"]


def test_compaction_ends_one_that_is_under_way() -> None:
    with KafkaDouble(stepped=True) as kafka:
        kafka.create_topic("c", config={"cleanup.policy": "compact", "min.cleanable.dirty.ratio": 0})
        kafka.produce_all("c", [{"key": f"{number % 5}", "value": "v" * 1000} for number in range(2000)])
        kafka.roll("c", 0)
        kafka.advance(15.002)  # log.cleaner.backoff.ms, and some steps
        kafka.compact("c")
        assert len(kafka.records("c")) == 5
        kafka.advance(60)
        assert len(kafka.records("c")) == 5


def test_compaction_removes_an_expired_tombstone_though_nothing_new_was_written() -> None:
    with KafkaDouble(stepped=True) as kafka:
        kafka.create_topic("c", config={"cleanup.policy": "compact", "delete.retention.ms": 1000})
        kafka.produce_all(
            "c", [{"key": "k", "value": "v"}, {"key": "k", "value": None}, {"key": "other", "value": "v"}]
        )
        for _ in range(2):
            kafka.compact("c")
            assert [record.value for record in kafka.records("c")] == [None, b"v"]
        kafka.advance(2)
        kafka.compact("c")
        assert [record.key for record in kafka.records("c")] == [b"other"]


def test_only_a_compacted_topic_is_compacted(kafka: KafkaDouble) -> None:
    with pytest.raises(UsageError, match=r"topic is one with cleanup\.policy=compact, not 't'"):
        kafka.compact("t")


def test_flush_of_a_log_returns_its_end_offset(tmp_path: Path) -> None:
    for brokers in (1, 3):
        for stepped in (True, False):
            with KafkaDouble(brokers=brokers, stepped=stepped, data_dir=tmp_path / f"{brokers}-{stepped}") as kafka:
                kafka.create_topic("t", replication_factor=brokers)
                kafka.produce("t", "a")
                kafka.produce("t", "b")
                assert kafka.flush("t", 0) == 2
                assert kafka.flush("t", 0) == 2


def test_log_verbs_on_unknown_partition_are_refused(kafka: KafkaDouble) -> None:
    for call in (kafka.roll, kafka.retain, kafka.compact, kafka.flush, kafka.elect_leaders):
        with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION: there is no t-2"):
            call("t", 2)
        with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION: there is no nowhere"):
            call("nowhere", 0)
        with pytest.raises(UsageError, match="partition is an index from 0, not '0'"):
            call("t", "0")  # type: ignore[arg-type]
    with pytest.raises(KafkaError, match="there is no nowhere"):
        kafka.end_offsets("nowhere")
    with pytest.raises(UsageError, match="partition 0 without a topic"):
        kafka.elect_leaders(partition=0)


def test_topics_returns_partitions_configs_and_leaders(kafka: KafkaDouble) -> None:
    brokers = tuple(brokers_of(kafka))
    kafka.create_topic("c", config={"cleanup.policy": "compact", "max.message.bytes": 500})
    kafka.produce("t", "a", partition=1)
    kafka.move_coordinator("g", to=brokers[0])
    topics = kafka.topics()
    assert list(topics) == ["c", "t"]
    assert topics["c"].configs == {"cleanup.policy": "compact", "max.message.bytes": "500"}
    topic = topics["t"]
    assert (topic.name, topic.is_internal, topic.configs) == ("t", False, {})
    assert [(each.start_offset, each.end_offset) for each in topic.partitions.values()] == [(0, 0), (0, 1)]
    for index, partition in topic.partitions.items():
        assert partition.leader == kafka.leader("t", index)
        assert partition.leader_epoch == kafka.leader_epoch("t", index)
        assert sorted(partition.replicas) == list(brokers)
        assert partition.isr == brokers
    assert kafka.end_offsets("t") == {0: 0, 1: 1}
    internal = kafka.topics(internal=True)
    assert internal["__consumer_offsets"].is_internal
    assert len(internal["__consumer_offsets"].partitions) == 50


def test_a_topic_without_a_leader() -> None:
    with KafkaDouble(brokers=2, stepped=True) as kafka:
        kafka.create_topic("t", 2)
        dead = kafka.wait_for_leader("t", 0)
        kafka.brokers[dead].kill()
        kafka.advance(10)
        partition = kafka.topics()["t"].partitions[0]
        assert (partition.leader, partition.end_offset, partition.replicas) == (None, None, (dead,))
        assert kafka.topics()["t"].partitions[1].end_offset == 0
        for call in (kafka.roll, kafka.flush):
            with pytest.raises(KafkaError, match="LEADER_NOT_AVAILABLE: no broker leads t-0"):
                call("t", 0)


def test_elect_leaders_elects_the_preferred_leaders() -> None:
    with KafkaDouble(brokers=3, stepped=True) as kafka:
        kafka.create_topic("t", 6, replication_factor=3)
        preferred = {index: each.replicas[0] for index, each in kafka.topics()["t"].partitions.items()}
        assert kafka.elect_leaders() == {}
        for index in range(6):
            kafka.move_leader("t", index, to=1)
        moved = {index: leader for index, leader in preferred.items() if leader != 1}
        one = min(moved)
        assert kafka.elect_leaders("t", one) == {("t", one): moved.pop(one)}
        assert kafka.elect_leaders("t") == {("t", index): leader for index, leader in moved.items()}
        assert {index: kafka.leader("t", index) for index in range(6)} == preferred
        kafka.brokers[2].kill()
        kafka.advance(10)
        with pytest.raises(KafkaError, match=r"PREFERRED_LEADER_NOT_AVAILABLE: t-\d: "):
            kafka.elect_leaders("t")


@pytest.mark.parametrize("brokers", [1, 3])
def test_elect_leaders_answers_for_more_partitions_than_a_slice_has(brokers: int) -> None:
    """The broker's loop calls the verb, and cannot wait for itself."""
    with KafkaDouble(brokers=brokers) as kafka:
        kafka.create_topic("wide", partitions=2 * SLICE, replication_factor=1)
        assert kafka.elect_leaders() == {}
        assert kafka.elect_leaders("wide") == {}
