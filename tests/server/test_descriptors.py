"""Descriptors and disk space stay constant over a long run: with compaction, retention, deleted
topics, and the offsets of a group."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest
from kafkadouble.messages.generated.offset_commit import OffsetCommitRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.controller.bootstrap import format_records
from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.server.logs import flushing
from kafkadouble.server.logs.files import FileLogs
from kafkadouble.server.logs.formatting import BootstrapMetadata, format_directory, opened
from kafkadouble.wire.batch import Record, encode_batch
from tests.server.harness import NOW, SEED, Harness
from tests.server.topic_requests import appending

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it looks at /proc")

SETTINGS = {
    "log.segment.bytes": 1 << 20,
    "log.roll.ms": 10_000,
    "offsets.topic.num.partitions": 1,
    "log.retention.check.interval.ms": 60_000,
    "log.cleaner.min.cleanable.ratio": 0,
    "metadata.log.max.record.bytes.between.snapshots": 3000,
    "metadata.max.retention.bytes": 5000,
    "internal.metadata.log.segment.bytes": 2000,
}
KEYS, LARGE = 5, 60_000

ONE_MORE = 3
"""The files of a segment that has just begun."""

METADATA = 10_000
"""The bytes by which the metadata log and its snapshots vary; each round writes 7 MB elsewhere."""


class Node(Harness):
    """A node whose files are in a temporary folder of the system."""

    def __init__(self, folder: Path) -> None:
        self.folder, ids = folder, Random(SEED)
        disk = RealDisk(str(folder))
        format_directory(disk, str(folder), "a-cluster", 1, Uuid(b"d" * 16), NOW, BootstrapMetadata(format_records()))
        logs = FileLogs(opened({str(folder): disk}, 1), lambda: Uuid.random(ids.randbytes))
        super().__init__(SETTINGS, logs=logs)

    def produce(self, topic: str) -> None:
        """Records that fill more than two segments."""
        for number in range(40):
            batch = encode_batch([Record(0, self.now, b"%d" % (number % KEYS), b"v" * LARGE)])
            answer = self.submit(appending(topic, batch, acks=1), 9)
            assert answer.responses[0].partition_responses[0].error_code == 0

    def commit(self, count: int) -> None:
        of = OffsetCommitRequest
        for offset in range(count):
            partition = of.OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
            requested = of.OffsetCommitRequestTopic(name="compacted", partitions=[partition])
            answer = self.submit(of(group_id="group", topics=[requested]), 5)
            assert answer.topics[0].partitions[0].error_code == 0

    def pass_time(self) -> None:
        """Waits until everything is cleaned, retained, flushed and removed."""
        for _ in range(13):
            self.tick(15_000)
            for _ in range(80):
                self.tick(1)
            jobs = self.node.flushing.begin()
            self.node.flushing.end(jobs, flushing.run(jobs))

    def live(self, round: int) -> None:
        self.create(f"passing-{round}")
        self.produce("compacted")
        self.produce("retained")
        self.produce(f"passing-{round}")
        for _ in range(4):
            self.commit(20)
            self.tick(15_000)
        self.pass_time()
        self.submit(DeleteTopicsRequest(topic_names=[f"passing-{round}"], timeout_ms=1000), 5)
        self.pass_time()

    def descriptors(self) -> list[str]:
        """The open files in the node's folder, also those that are removed."""
        found = []
        for descriptor in os.listdir("/proc/self/fd"):
            with suppress(FileNotFoundError):
                found.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        return [path for path in found if path.startswith(str(self.folder))]

    @property
    def size(self) -> int:
        return sum(path.stat().st_size for path in self.folder.rglob("*"))


def test_file_descriptors_stay_constant(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.create("compacted", configs={"cleanup.policy": "compact"})
    node.create("retained", configs={"retention.bytes": str(1 << 20)})
    node.node.controller.create_internal_topic("__consumer_offsets")
    seen = []
    for round in range(8):
        node.live(round)
        open_files = node.descriptors()
        assert not [path for path in open_files if path.endswith(" (deleted)")], round
        seen.append((len(open_files), node.size))
    counts, sizes = ([each[column] for each in seen] for column in (0, 1))
    assert max(counts[3:]) <= max(counts[1:3]) + ONE_MORE
    assert max(sizes[3:]) <= max(sizes[1:3]) + METADATA
