"""Retention and compaction in a cluster: every replica cleans its own log, in memory and on
disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.messages.generated.delete_records import DeleteRecordsRequest
from kafkadouble.messages.generated.describe_log_dirs import DescribeLogDirsRequest
from kafkadouble.messages.generated.incremental_alter_configs import IncrementalAlterConfigsRequest
from kafkadouble.messages.message import Message
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.replica.partition_replicas import find_replica
from kafkadouble.wire.batch import decode_all
from tests.support.client import ask

IDS = (1, 2, 3)
SEGMENT = 20_000
SETTINGS = {
    "replica.fetch.wait.max.ms": "20000",
    "broker.heartbeat.interval.ms": "5000",
    "log.retention.check.interval.ms": "30000",
    "metadata.max.idle.interval.ms": "5000",
}
"""Fetches and heartbeats are rarer than by default, and checks more frequent, so that a test
advances the time quickly."""

TWO_CHECKS_S = 75

TOPICS = {
    "by-size": {"retention.bytes": str(SEGMENT)},
    "by-time": {"retention.ms": "20000"},
    "compacted": {"cleanup.policy": "compact"},
    "both": {"cleanup.policy": "compact,delete", "retention.bytes": str(SEGMENT)},
    "purged": {},
    "reconfigured": {},
}


@pytest.fixture(params=["memory", "files"])
def kafka(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[KafkaDouble]:
    data_dir = tmp_path / "data" if request.param == "files" else None
    with KafkaDouble(brokers=3, stepped=True, seed=20261121, config=SETTINGS, data_dir=data_dir) as kafka:
        for name, config in TOPICS.items():
            kafka.create_topic(name, replication_factor=3, config={"internal.segment.bytes": str(SEGMENT), **config})
        yield kafka


def log_of(kafka: KafkaDouble, id: int, topic: str) -> PartitionLog:
    cluster: Any = kafka._double_host.known().broker
    broker = cluster.members_by_id[id].broker
    replica = find_replica(broker.node, topic, 0)
    assert replica is not None
    return replica.log


def keys(log: PartitionLog) -> list[bytes | None]:
    return [record.key for batch in log.batches(log.log_start_offset) for record in decode_all(bytes(batch))]


def held(kafka: KafkaDouble, id: int, topic: str) -> tuple[int, int, int, list[tuple[int, int]], list[bytes | None]]:
    """What one replica holds: its log start offset, its end, its size, its segments and the keys of
    its records."""
    log = log_of(kafka, id, topic)
    segments = [(segment.base_offset, segment.next_offset) for segment in log.segments]
    return log.log_start_offset, log.log_end_offset, log.size, segments, keys(log)


def size_by_api(kafka: KafkaDouble, id: int, topic: str) -> int:
    of = DescribeLogDirsRequest
    requested = of(topics=[of.DescribableLogDirTopic(topic=topic, partitions=[0])])
    [directory] = [result for result in ask(kafka.brokers[id].bootstrap, requested, 4).results if result.topics]
    size: int = directory.topics[0].partitions[0].partition_size
    return size


def ask_the_leader(kafka: KafkaDouble, topic: str, body: Message, version: int) -> None:
    leader = kafka.leader(topic, 0)
    assert leader is not None
    ask(kafka.brokers[leader].bootstrap, body, version)


def have_it_compacted(kafka: KafkaDouble, topic: str) -> None:
    of = IncrementalAlterConfigsRequest
    config = of.AlterableConfig(name="cleanup.policy", config_operation=0, value="compact")
    resource = of.AlterConfigsResource(resource_type=2, resource_name=topic, configs=[config])
    ask_the_leader(kafka, topic, of(resources=[resource]), 1)


def test_leader_and_followers_hold_the_same_after_two_checks(kafka: KafkaDouble) -> None:
    for topic in TOPICS:
        for number in range(55):
            kafka.produce(topic, b"v" * 2_000, key=b"k%d" % (number % 5))
    before = {topic: size_by_api(kafka, 1, topic) for topic in TOPICS}
    kafka.advance(25)
    of = DeleteRecordsRequest
    partition = of.DeleteRecordsPartition(partition_index=0, offset=30)
    body = of(topics=[of.DeleteRecordsTopic(name="purged", partitions=[partition])], timeout_ms=0)
    ask_the_leader(kafka, "purged", body, 2)
    have_it_compacted(kafka, "reconfigured")
    kafka.advance(TWO_CHECKS_S)
    for topic in TOPICS:
        first, *others = (held(kafka, id, topic) for id in IDS)
        assert others == [first, first], topic
        assert {size_by_api(kafka, id, topic) for id in IDS} == {first[2]}
        assert first[2] < before[topic], topic
    assert log_of(kafka, 1, "by-time").log_start_offset == 55
    assert log_of(kafka, 1, "purged").log_start_offset == 30
    assert len(log_of(kafka, 1, "by-size").segments) == 2
    assert len(keys(log_of(kafka, 1, "compacted"))) == len(keys(log_of(kafka, 1, "reconfigured"))) < 20
