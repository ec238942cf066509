"""What the log says, folded: the image, the changes, and what of it never happened."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from kafkadouble.messages import framed
from kafkadouble.messages.generated.abort_transaction_record import AbortTransactionRecord
from kafkadouble.messages.generated.begin_transaction_record import BeginTransactionRecord
from kafkadouble.messages.generated.config_record import ConfigRecord
from kafkadouble.messages.generated.end_transaction_record import EndTransactionRecord
from kafkadouble.messages.generated.no_op_record import NoOpRecord
from kafkadouble.messages.generated.remove_topic_record import RemoveTopicRecord
from kafkadouble.messages.generated.topic_record import TopicRecord
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.observe.change import CONTROL, RECORD, SNAPSHOT, UNKNOWN
from kafkadouble.observe.history import MOST, MetadataHistory
from kafkadouble.observe.view import View
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.log.storage import Slice
from kafkadouble.server.metadata.image_records import encoded_records_of
from kafkadouble.server.raft import control_records
from kafkadouble.server.raft.replica_key import ReplicaKey
from kafkadouble.server.raft.snapshots.memory_store import MemorySnapshotStore
from kafkadouble.server.raft.snapshots.snapshot_header import SnapshotHeader
from kafkadouble.server.raft.snapshots.snapshot_reader import RecordsSnapshotReader
from kafkadouble.server.raft.snapshots.snapshot_writer import write_at_once
from kafkadouble.server.raft.voters import VoterSet
from kafkadouble.wire.batch import Record, control_record, encode_batch
from tests.front.observe.made import BATCHES, ORDERS, START, change
from tests.server.metadata.cluster_story import Story

EPOCH = 3


class Log:
    """Batches for a view, at the offsets at which they are due."""

    def __init__(self) -> None:
        self.view, self.next = View(), 0

    def values(self, *values: bytes, epoch: int = EPOCH) -> None:
        records = [Record(self.next + at, START + self.next, None, value) for at, value in enumerate(values)]
        self.batch(encode_batch(records, base_offset=self.next, partition_leader_epoch=epoch), len(records))

    def records(self, *records: Message, epoch: int = EPOCH) -> None:
        self.values(*(framed.encode_record(record, type(record).versions[1]) for record in records), epoch=epoch)

    def batch(self, data: bytes | bytearray, count: int) -> None:
        first, self.next = self.next, self.next + count
        self.view.committed(Slice(bytes(data), first, self.next))

    @property
    def kinds(self) -> list[str]:
        return [type(change.message).__name__ for change in self.view.changes]


def test_any_log_is_folded_as_the_image_folds_it_however_it_is_cut_into_batches() -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    for _ in range(20):
        story, log = Story(chance, 33), Log()
        records = list(story.records(200))
        while records:
            some = chance.randrange(1, 20)
            log.records(*records[:some])
            del records[:some]
        assert log.view.image == story.image
        assert log.view.unknown == 0
        assert log.view.end == OffsetAndEpoch(log.next, EPOCH)
        assert log.view._held is None


def test_a_snapshot_is_the_same_as_the_log_before_it() -> None:
    story, log = Story(random.Random(5), 33), Log()
    log.records(*story.records(300))
    fresh = View()
    fresh.snapshot_loaded(snapshot(list(encoded_records_of(log.view.image)), 500))
    assert fresh.image == log.view.image
    assert (fresh.end, fresh.snapshot) == (OffsetAndEpoch(500, EPOCH), OffsetAndEpoch(500, EPOCH))
    first, *others = fresh.changes
    assert first.json() == {"kind": SNAPSHOT, "offset": 500, "epoch": EPOCH, "timestamp": START}
    assert {other.kind for other in others} == {RECORD}
    assert all(other.json()["snapshot"] == 500 and "offset" not in other.json() for other in others)
    assert fresh.history.rows == type(fresh.history.rows)()  # who led before is not known


def snapshot(values: list[bytes], offset: int) -> RecordsSnapshotReader:
    store = MemorySnapshotStore()
    id = OffsetAndEpoch(offset, EPOCH)
    part = store.create(id)
    assert part is not None
    write_at_once(part, SnapshotHeader(START), values, START)
    reader = store.open(id)
    assert reader is not None
    return reader


def test_a_transaction_counts_at_its_end_or_never() -> None:
    log = Log()
    log.records(BeginTransactionRecord(name="x"), TopicRecord(name="a", topic_id=Uuid(b"a" * 16)))
    assert (log.kinds, dict(log.view.image.topic_ids)) == ([], {})
    log.records(TopicRecord(name="b", topic_id=Uuid(b"b" * 16)), AbortTransactionRecord(reason="y"))
    assert (log.kinds, dict(log.view.image.topic_ids)) == ([], {})
    log.records(BeginTransactionRecord(name="x"), TopicRecord(name="a", topic_id=Uuid(b"a" * 16)))
    log.records(EndTransactionRecord())
    assert log.kinds == ["TopicRecord"]
    assert list(log.view.image.topic_ids) == ["a"]
    assert log.view.changes[0].place.offset == 5  # its own, not that of the end


def test_a_snapshot_ends_a_transaction_without_a_known_end() -> None:
    log = Log()
    log.records(BeginTransactionRecord(name="x"), TopicRecord(name="a", topic_id=Uuid(b"a" * 16)))
    log.view.snapshot_loaded(snapshot([], 50))
    log.next = 50
    log.records(TopicRecord(name="b", topic_id=Uuid(b"b" * 16)))
    assert list(log.view.image.topic_ids) == ["b"]


def test_records_that_say_nothing_are_no_changes() -> None:
    log = Log()
    log.records(NoOpRecord(), NoOpRecord())
    assert not log.view.changes
    assert log.view.end.offset == 2


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"\x02\x00\x00",
        b"\x01\x7f\x00",
        b"\x01\x02\x7f\x00",
        b"\x01\x02\x00\xff",
        framed.encode_record(RemoveTopicRecord(topic_id=ORDERS), 0),
    ],
    ids=[
        "nothing",
        "another frame",
        "an unknown kind",
        "an unknown version",
        "broken bytes",
        "a topic that is not there",
    ],
)
def test_an_unknown_record_is_reported_and_skipped(value: bytes) -> None:
    log = Log()
    log.values(value, framed.encode_record(TopicRecord(name="a", topic_id=ORDERS), 0))
    unknown, after = log.view.changes
    assert (unknown.kind, log.view.unknown) == (UNKNOWN, 1)
    assert unknown.line().startswith(
        "offset 0  epoch 3  2023-11-14T22:13:20.000Z  passed over, as it cannot be understood: "
    )
    assert set(unknown.json()) == {"kind", "offset", "epoch", "timestamp", "problem", "value"}
    assert after.kind == RECORD


def test_a_batch_that_cannot_be_read_is_reported_and_skipped() -> None:
    log = Log()
    data = encode_batch([Record(0, START, None, b"xy")], base_offset=0, partition_leader_epoch=EPOCH)
    data[-4:] = b"\xff\xff\xff\xff"
    log.batch(data, 1)
    assert [change.kind for change in log.view.changes] == [UNKNOWN]
    assert log.view.end.offset == 1


def test_a_new_quorum_leader_is_a_change() -> None:
    log = Log()
    voters = VoterSet.from_static("1@a:1,2@b:2,3@c:3")
    text = [
        control_records.leader_change(ReplicaKey(2), voters, [ReplicaKey(2), ReplicaKey(3)]),
        control_records.kraft_version(1),
        control_records.voters(voters),
        (77, b"of a later time"),
    ]
    records = [control_record(at, START, kind, value) for at, (kind, value) in enumerate(text)]
    log.batch(encode_batch(records, base_offset=0, partition_leader_epoch=EPOCH, is_control=True), len(text))
    assert [change.line().rpartition("  ")[2] for change in log.view.changes] == [
        "controller 2 leads, by the votes of 2,3",
        "kraft.version is 1",
        "the voters are 1,2,3",
    ]
    assert {change.kind for change in log.view.changes} == {CONTROL}
    assert log.view.changes[0].json()["data"]["leaderId"] == 2


def test_each_change_is_a_line_that_describes_it() -> None:
    log = Log()
    for records in BATCHES:
        log.records(*records)
    log.records(RemoveTopicRecord(topic_id=ORDERS))
    assert [change.line().partition("Z  ")[2] for change in log.view.changes] == [
        "feature metadata.version is 33 (4.4-IV2)",
        "broker 1 registers with epoch 2, PLAINTEXT://broker-1:9092, fenced",
        "broker 2 registers with epoch 3, PLAINTEXT://broker-2:9092, fenced",
        "broker 1 is unfenced",
        "broker 2 is unfenced",
        f"topic orders is created, id {ORDERS}",
        "topic orders: retention.ms=86400000",
        "orders-0: replicas 1,2, ISR 1,2, leader 1",
        "orders-1: replicas 2,1, ISR 2,1, leader 2",
        "orders-0: ISR 1,2 -> 1; partition epoch 1",
        "orders-1: ISR 2,1 -> 1; leader 2 -> 1 in epoch 1; partition epoch 1",
        "orders-0: ISR 1 -> 1,2; partition epoch 2",
        "orders-1: ISR 1 -> 1,2; partition epoch 2",
        "topic orders is deleted",
    ]


def test_secrets_are_hidden_in_lines_and_objects() -> None:
    log = Log()
    log.records(ConfigRecord(resource_type=4, resource_name="1", name="ssl.keystore.password", value="hunter2"))
    change = log.view.changes[0]
    assert "hunter2" not in change.line() + str(change.json())
    assert change.line().endswith("broker 1: ssl.keystore.password=<hidden>")


def test_the_history_has_what_changed_and_where() -> None:
    log = Log()
    for records in BATCHES:
        log.records(*records)
    log.records(change(0, [2, 1]))  # the same, in another order
    log.records(change(1, [], -1), epoch=EPOCH + 1)
    log.records(change(1, [2], 2), epoch=EPOCH + 1)
    log.records(change(1, [2], 2), epoch=EPOCH + 2)
    rows = log.view.history.rows
    assert [(row.place.offset, row.place.epoch, f"{row.topic}-{row.partition}", row.what) for row in rows] == [
        (7, 3, "orders-0", "created"),
        (8, 3, "orders-1", "created"),
        (9, 3, "orders-0", "shrinks"),
        (10, 3, "orders-1", "shrinks, leader moves"),
        (11, 3, "orders-0", "grows"),
        (12, 3, "orders-1", "grows"),
        (14, 4, "orders-1", "shrinks, leader lost"),
        (15, 4, "orders-1", "grows, leader found"),
        (16, 5, "orders-1", "elected again"),
    ]
    epochs = [row.now.leader_epoch for row in rows if row.partition == 1]
    assert epochs == [0, 1, 1, 2, 3, 4]
    assert all(one.before is other.before or one.place <= other.place for one, other in pairwise(rows))


def test_a_snapshot_on_the_way_leaves_in_the_history_what_differs() -> None:
    log, later = Log(), Log()
    for records in BATCHES[:5]:
        log.records(*records)
    for records in BATCHES:
        later.records(*records)
    log.view.snapshot_loaded(snapshot(list(encoded_records_of(later.view.image)), 40))
    found = [(row.place.offset, f"{row.topic}-{row.partition}", row.what) for row in log.view.history.rows]
    assert found[3:] == [(40, "orders-0", "grows"), (40, "orders-1", "leader moves")]


def test_the_history_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log()
    for records in BATCHES[:4]:
        log.records(*records)
    for at in range(MOST):
        log.records(change(0, [1 + at % 2]))
    history: MetadataHistory = log.view.history
    assert (len(history.rows), history.dropped) == (MOST, 2)
