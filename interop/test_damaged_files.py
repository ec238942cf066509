"""A start after a file of a log directory was damaged: Apache Kafka and kafkadouble on the same
files, which Apache Kafka wrote. `tests/support/damaged_files.py` is the table of all outcomes; with
KAFKADOUBLE_INTEROP_ALL=1 all of it is played."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from interop.clients import CREATOR
from interop.clients.shape import Record
from interop.local import cluster
from interop.local.node import Node
from interop.quorum import QUICK_HEARTBEATS
from interop.support import create_topic
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_log_dirs import DescribeLogDirsRequest
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest
from kafkadouble.wire.batch import iter_batches
from tests.support.client import ask
from tests.support.damaged_files import ROWS, Outcome, Row
from tests.support.serving import serving
from tests.support.waiting import eventually

IN_EVERY_RUN = {
    "directory/meta.properties absent",
    "directory/recovery-point-offset-checkpoint garbage",
    "directory/log-start-offset-checkpoint garbage",
    "directory/cleaner-offset-checkpoint garbage",
    "directory/my-backup added",
    "partition/ copied",
    "partition/partition.metadata absent",
    "partition/partition.metadata empty",
    "partition/partition.metadata garbage",
    "partition/leader-epoch-checkpoint garbage",
    "partition/last.log cut",
    "partition/first.txnindex garbage",
    "metadata/quorum-state empty",
}
"""Two to four seconds each."""

PLAYED = ROWS if os.environ.get("KAFKADOUBLE_INTEROP_ALL") else [row for row in ROWS if str(row) in IN_EVERY_RUN]

TOPICS = "one", "two"
CONFIG = {"segment.bytes": "1048576", "index.interval.bytes": "1"}
SETTINGS = {**QUICK_HEARTBEATS, "metadata.log.max.snapshot.interval.ms": "1000"}
WITHIN = 30.0
"""Seconds in which a directory goes offline after the start."""


class Written(NamedTuple):
    """A stopped node of Apache Kafka, a copy of its log directories `a` and `b`, the topic whose
    partition is in `b`, and the other one, each with what was served of it."""

    node: Node
    copy: Path
    damaged: str
    kept: str
    whole: Served

    @property
    def dirs(self) -> Path:
        return self.copy.parent


class Served(NamedTuple):
    """What a client finds in a partition: the last offset of each batch, and the first offsets of
    aborted transactions."""

    batches: list[int]
    aborted: list[int]


@pytest.fixture(scope="module")
def written(local_jars: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Written]:
    folder = tmp_path_factory.mktemp("damaged")
    dirs = {"log.dirs": f"{folder / 'a'},{folder / 'b'}"}
    with cluster(folder / "kafka", overrides={**SETTINGS, **dirs}) as running:
        (node,) = running.nodes
        fill(running.bootstrap)
        found = {path.parent.name: path.name[:-2] for topic in TOPICS for path in folder.glob(f"?/{topic}-0")}
        whole = served(running.bootstrap, found["b"])
        assert whole is not None
        assert whole == served(running.bootstrap, found["a"])
        wait_for_snapshots(folder / "a" / "__cluster_metadata-0")
        node.stop()
        for name in "ab":
            shutil.copytree(folder / name, folder / "copy" / name)
        yield Written(node, folder / "copy", found["b"], found["a"], whole)


def fill(bootstrap: str) -> None:
    """Two topics of several segments, with an aborted transaction."""
    for topic in TOPICS:
        create_topic(bootstrap, topic, configs=CONFIG)
    for topic in TOPICS:
        with CREATOR.transactional(bootstrap, transactional_id=f"of-{topic}") as producer:
            producer.begin()
            producer.send(topic, [Record(b"aborted")])
            producer.abort_transaction()
        with CREATOR.producer(bootstrap) as plain:
            for _ in range(6):
                plain.send(topic, [Record(os.urandom(300_000))])


def wait_for_snapshots(folder: Path) -> None:
    """Until all that was decided is in a snapshot: one may have begun before."""
    before = {path.name for path in folder.glob("*.checkpoint")}
    eventually(lambda: {path.name for path in folder.glob("*.checkpoint")} - before, lambda found: len(found) > 1)


def served(bootstrap: str, topic: str) -> Served | None:
    """None when the partition is not served."""
    partition = ListOffsetsRequest.ListOffsetsPartition(partition_index=0, timestamp=-2)
    topics = [ListOffsetsRequest.ListOffsetsTopic(name=topic, partitions=[partition])]
    start = ask(bootstrap, ListOffsetsRequest(replica_id=-1, topics=topics), 7).topics[0].partitions[0]
    batches, aborted, offset = list[int](), set[int](), start.offset
    while not start.error_code:
        data = FetchRequest.FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 26)
        request = FetchRequest(
            max_wait_ms=0,
            max_bytes=1 << 26,
            isolation_level=1,
            topics=[FetchRequest.FetchTopic(topic=topic, partitions=[data])],
        )
        found = ask(bootstrap, request, 12).responses[0].partitions[0]
        if found.error_code:
            return None
        aborted |= {each.first_offset for each in found.aborted_transactions or ()}
        headers = [header for _, header in iter_batches(bytes(found.records or b""))]
        if not headers:
            return Served(batches, sorted(aborted))
        batches += [header.last_offset for header in headers if header.next_offset > offset]
        offset = headers[-1].next_offset
    return None


def outcome(bootstrap: str, written: Written) -> Outcome | None:
    """What a node that has started makes of the damage; None while it does not serve what is not
    damaged."""
    if served(bootstrap, written.kept) != written.whole:
        return None
    results = ask(bootstrap, DescribeLogDirsRequest(topics=None), 4).results
    if error_codes.KAFKA_STORAGE_ERROR in [result.error_code for result in results]:
        return Outcome.DIRECTORY
    damaged = served(bootstrap, written.damaged)
    if damaged is None:
        return Outcome.PARTITION
    if not damaged.batches:
        return Outcome.STRAY
    return Outcome.WHOLE if damaged == written.whole else Outcome.LESS


def damage(written: Written, row: Row) -> None:
    for name in "ab":
        shutil.rmtree(written.dirs / name)
        shutil.copytree(written.copy / name, written.dirs / name)
    row.do(written.dirs, written.damaged)


def in_kafka(written: Written, due: Outcome) -> Outcome | None:
    node = written.node
    try:
        node.start()
    except RuntimeError as failure:
        if "(exit code 1)" not in str(failure):
            raise
        return Outcome.NO_START
    else:
        return eventually(lambda: outcome(node.bootstrap, written), lambda found: found == due, within=WITHIN)
    finally:
        node.kill()


def here(written: Written) -> Outcome | None:
    try:
        with serving("--config", str(written.node.config)) as ours:
            return outcome(ours.startup["bootstrap.servers"], written)
    except AssertionError as failure:
        if "it does not serve" not in str(failure):
            raise
        return Outcome.NO_START


@pytest.mark.parametrize("row", PLAYED, ids=str)
def test_a_start_after_damage_has_the_outcome_of_its_row(written: Written, row: Row) -> None:
    damage(written, row)
    assert in_kafka(written, row.kafka) == row.kafka
    damage(written, row)
    assert here(written) == row.here
