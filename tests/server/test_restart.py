"""A node that restarts on its files: metadata, records, groups, epochs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest
from kafkadouble.messages.generated.init_producer_id import InitProducerIdRequest
from kafkadouble.messages.generated.offset_commit import OffsetCommitRequest
from kafkadouble.messages.generated.offset_fetch import OffsetFetchRequest
from kafkadouble.messages.generated.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.controller.bootstrap import format_records
from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.server.logs.files import FileLogs
from kafkadouble.server.logs.formatting import BootstrapMetadata, format_directory, opened
from kafkadouble.server.logs.logs import Logs
from kafkadouble.server.logs.memory import MemoryLogs
from kafkadouble.server.metadata.image import TOPIC
from kafkadouble.wire.batch import Record, decode_all, encode_batch
from tests.server.harness import NOW, SEED, Harness
from tests.server.topic_requests import appending, fetching


class Lives:
    """The files of a node, and the node that has them now. `killed` nodes have no time to shut down
    cleanly."""

    def __init__(self, keep: Callable[[], Logs], *, killed: bool = False) -> None:
        self._keep, self._killed = keep, killed
        self.now = NOW
        self.node = self.born()

    def born(self) -> Harness:
        return Harness(logs=self._keep(), now=self.now, seed=self.now)

    def again(self) -> Harness:
        """The node stops, and a new one starts a minute later."""
        if not self._killed:
            self.node.node.close(self.now)
        self.now += 60_000
        self.node = self.born()
        return self.node


def in_files(folder: Path) -> Callable[[], Logs]:
    """A log directory, which each run opens again."""
    disk = RealDisk(str(folder))
    format_directory(disk, str(folder), "a-cluster", 1, Uuid(b"d" * 16), NOW, BootstrapMetadata(format_records()))
    ids = Random(SEED)
    return lambda: FileLogs(opened({str(folder): RealDisk(str(folder))}, 1), lambda: Uuid.random(ids.randbytes))


@pytest.fixture(params=["memory", "files", "files of a killed node"])
def lives(request: pytest.FixtureRequest, tmp_path: Path) -> Lives:
    if request.param == "memory":
        kept = MemoryLogs()
        return Lives(lambda: kept)
    return Lives(in_files(tmp_path), killed="killed" in request.param)


def produce(node: Harness, topic: str, *values: bytes) -> int:
    batch = encode_batch([Record(at, NOW, None, value) for at, value in enumerate(values)])
    response = node.submit(appending(topic, batch), 9)
    answered = response.responses[0].partition_responses[0]
    assert answered.error_code == 0
    return int(answered.base_offset)


def values(node: Harness, topic: str) -> list[bytes | None]:
    response = node.submit(fetching(topic), 11)
    found = response.responses[0].partitions[0]
    assert found.error_code == 0
    return [record.value for record in decode_all(found.records)]


def test_topics_configs_and_records_are_there_again(lives: Lives) -> None:
    lives.node.create("orders", partitions=2, configs={"retention.ms": "1234567"})
    produce(lives.node, "orders", b"a", b"b")
    before = lives.node.image.topic_named("orders")
    node = lives.again()
    after = node.image.topic_named("orders")
    assert before is not None
    assert after is not None
    assert after.id == before.id
    assert dict(node.image.config_overrides(TOPIC, "orders")) == {"retention.ms": "1234567"}
    assert values(node, "orders") == [b"a", b"b"]
    assert produce(node, "orders", b"c") == 2
    assert node.partition("orders").log.config.retention_ms == 1234567


def test_records_after_a_restart_have_a_later_epoch(lives: Lives) -> None:
    lives.node.create("t")
    produce(lives.node, "t", b"a")
    first = lives.node.partition("t").leader_epoch
    node = lives.again()
    produce(node, "t", b"b")
    assert node.partition("t").leader_epoch == first + 2
    requested = OffsetForLeaderEpochRequest.OffsetForLeaderPartition(partition=0, leader_epoch=first)
    topic = OffsetForLeaderEpochRequest.OffsetForLeaderTopic(topic="t", partitions=[requested])
    response = node.submit(OffsetForLeaderEpochRequest(replica_id=-1, topics=[topic]), 4)
    answered = response.topics[0].partitions[0]
    assert (answered.leader_epoch, answered.end_offset) == (first, 1)


def test_the_quorum_goes_on_in_a_later_epoch(lives: Lives) -> None:
    first = lives.node.node.controller.epoch
    node = lives.again()
    assert node.node.controller.epoch == first + 1
    assert node.node.controller.log.epochs.latest == first + 1


def test_groups_are_loaded_from_their_log(lives: Lives) -> None:
    lives.node.create("t")
    committed = OffsetCommitRequest.OffsetCommitRequestPartition(partition_index=0, committed_offset=7)
    topic = OffsetCommitRequest.OffsetCommitRequestTopic(name="t", partitions=[committed])
    for _ in range(2):  # the first may find the coordinator's topic missing
        lives.node.node.controller.create_internal_topic("__consumer_offsets")
        response = lives.node.submit(OffsetCommitRequest(group_id="g", topics=[topic]), 8)
    assert response.topics[0].partitions[0].error_code == 0
    node = lives.again()
    fetched_topic = OffsetFetchRequest.OffsetFetchRequestTopic(name="t", partition_indexes=[0])
    found = node.submit(OffsetFetchRequest(group_id="g", topics=[fetched_topic]), 5)
    assert found.topics[0].partitions[0].committed_offset == 7


def test_a_producer_id_is_never_given_twice(lives: Lives) -> None:
    requested = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
    first = lives.node.submit(requested, 4).producer_id
    assert lives.again().submit(requested, 4).producer_id > first


def test_a_deleted_topic_does_not_come_back_under_its_name(lives: Lives) -> None:
    lives.node.create("t")
    produce(lives.node, "t", b"old")
    lives.node.submit(DeleteTopicsRequest(topic_names=["t"], timeout_ms=1000), 5)
    node = lives.again()
    assert node.image.topic_named("t") is None
    node.create("t")
    assert values(node, "t") == []
