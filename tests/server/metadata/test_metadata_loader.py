"""The committed image follows the log, also where this node appended a batch and does not know it
any more.
"""

from __future__ import annotations

from collections import deque

from kafkadouble.messages.generated.remove_topic_record import RemoveTopicRecord
from kafkadouble.messages.generated.topic_record import TopicRecord
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.log.producers import AppendOrigin
from kafkadouble.server.metadata.changed_records import ChangedRecords
from kafkadouble.server.metadata.metadata_loader import MetadataLoader
from kafkadouble.server.metadata.metadata_log import batch_of
from kafkadouble.server.raft.snapshots.memory_store import MemorySnapshotStore
from kafkadouble.wire.batch import control_record, encode_batch, read_header
from tests.server.metadata.snapshot_cluster import Cluster, topic

NOW = 1_700_000_000_000
TOPIC = TopicRecord(name="orders", topic_id=Uuid(b"o" * 16))


def test_batch_of_old_leader_is_loaded_once_committed_by_the_next() -> None:
    log = PartitionLog("__cluster_metadata", 0, LogConfig())
    committed = MetadataLoader(log, MemorySnapshotStore())
    opening = encode_batch([control_record(0, NOW, 2, b"")], base_offset=0, is_control=True, seal=False)
    for batch in (opening, batch_of([TOPIC], 1, NOW)):
        log.append_own(batch, leader_epoch=3, now=NOW, origin=AppendOrigin.RAFT)
    read = log.read(0, 1 << 20, 2, sealed=False)
    assert read_header(read.records).crc == 0
    [change] = committed.handle_commit(read.records, deque())
    assert change.records == [TOPIC]
    assert committed.image.end.offset == 2
    assert read_header(log.read(0, 1 << 20, 2).records).crc


def test_bytes_since_the_last_snapshot_are_counted_after_a_restart() -> None:
    """Two records were added after the snapshot and deleted, and one of the snapshot's two was
    deleted (KIP-630).
    """
    cluster = Cluster()
    assert cluster.write(cluster.append(TOPIC, topic(1)))
    cluster.append(topic(2), topic(3))
    cluster.append(RemoveTopicRecord(topic_id=topic(2).topic_id))
    changed = ChangedRecords()
    committed = MetadataLoader(cluster.log.log, cluster.store, changed=changed)
    read = cluster.log.read(2, 1 << 20)
    committed.handle_commit(read.records, deque())
    assert changed.ratio(committed.image) == 1 / 2
    cluster.append(RemoveTopicRecord(topic_id=TOPIC.topic_id))
    committed.handle_commit(cluster.log.read(read.next_offset, 1 << 20).records, deque())
    assert changed.ratio(committed.image) == 1.0


def test_a_snapshot_that_is_loaded_is_what_changes_are_counted_from() -> None:
    cluster, changed = Cluster(), ChangedRecords()
    committed = MetadataLoader(cluster.log.log, cluster.store, changed=changed)
    end = cluster.append(TOPIC, topic(1))
    assert cluster.write(end)
    assert changed.ratio(committed.image) == 1.0, "there was no snapshot"
    committed.handle_load_snapshot(end)
    assert changed.ratio(committed.image) == 0.0


def test_the_stopwatch_measures_how_long_a_snapshot_took_to_load() -> None:
    """By that of the node: a step of the core lasts no time of its own."""
    cluster, times = Cluster(), iter((1000, 1007, 2000, 2040))
    first = cluster.append(TOPIC)
    assert cluster.write(first)
    committed = MetadataLoader(cluster.log.log, cluster.store, lambda: next(times))
    assert committed.load_ms == 7
    assert committed.handle_load_snapshot(first) is None, "it was read at the start"
    assert committed.load_ms == 7
    second = cluster.append(topic(1))
    assert cluster.write(second)
    committed.handle_load_snapshot(second)
    assert committed.load_ms == 40
