"""Of which places in the log a snapshot may be written."""

from __future__ import annotations

import pytest

from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft.raft_log import DivergedLog, RaftLog
from kafkadouble.server.raft.snapshots.memory_store import MemorySnapshotStore
from kafkadouble.server.raft.snapshots.snapshot_writer import write_at_once
from kafkadouble.server.raft.snapshots.validation import create
from kafkadouble.server.raft.voters import VoterSet
from kafkadouble.wire.errors import UsageError

from .making import HEAD, NOW, data, value, values

BATCHES = [(1, 3), (1, 2), (4, 3), (4, 2)]
"""Epoch and records of each batch: they end at 3, 5, 8 and 10."""


def a_log(store: MemorySnapshotStore, high_watermark: int = 8) -> RaftLog:
    log = RaftLog(PartitionLog("__cluster_metadata", 0), VoterSet(), store)
    for epoch, count in BATCHES:
        log.begin_epoch(epoch)
        log.append_values([value(number) for number in range(count)], epoch, NOW)
    log.commit(high_watermark)
    return log


@pytest.mark.parametrize(("offset", "epoch"), [(3, 1), (5, 1), (8, 4)])
def test_snapshot_is_allowed_at_committed_batch_end(offset: int, epoch: int) -> None:
    store = MemorySnapshotStore()
    part = create(a_log(store), store, OffsetAndEpoch(offset, epoch))
    assert part is not None
    write_at_once(part, HEAD, values(2), NOW)
    assert store.ids() == [OffsetAndEpoch(offset, epoch)]


@pytest.mark.parametrize(
    ("offset", "epoch", "problem"),
    [
        (10, 4, "committed"),
        (11, 4, "committed"),
        (4, 1, "a batch has begun"),
        (7, 4, "a batch has begun"),
        (8, 1, "diverging"),
        (8, 5, "diverging"),
        (8, 3, "diverging"),
        (5, 0, "diverging"),
        (5, 4, "another epoch"),
        (3, 4, "another epoch"),
    ],
)
def test_snapshot_at_another_offset_is_refused(offset: int, epoch: int, problem: str) -> None:
    store = MemorySnapshotStore()
    with pytest.raises(UsageError, match=problem):
        create(a_log(store), store, OffsetAndEpoch(offset, epoch))
    assert store.ids() == []


def test_before_the_start_of_the_log_and_where_there_is_one_there_is_no_need() -> None:
    store = MemorySnapshotStore()
    log = a_log(store)
    for id in (OffsetAndEpoch(5, 1), OffsetAndEpoch(8, 4)):
        part = create(log, store, id)
        assert part is not None
        write_at_once(part, HEAD, values(2), NOW)
    assert create(log, store, OffsetAndEpoch(8, 4)) is None
    log.move_start(OffsetAndEpoch(8, 4))
    assert log.start_offset == 8
    assert create(log, store, OffsetAndEpoch(5, 1)) is None
    assert create(log, store, OffsetAndEpoch(3, 1)) is None


def test_a_log_that_begins_later_and_has_no_snapshot_is_not_started() -> None:
    store = MemorySnapshotStore()
    log = a_log(store)
    log.log.delete_records_before(5)
    with pytest.raises(DivergedLog):
        RaftLog(log.log, VoterSet(), store)
    store.add(OffsetAndEpoch(3, 1), data(id=OffsetAndEpoch(3, 1)))
    with pytest.raises(DivergedLog):
        RaftLog(log.log, VoterSet(), store)
    store.add(OffsetAndEpoch(5, 1), data(id=OffsetAndEpoch(5, 1)))
    assert RaftLog(log.log, VoterSet(), store).start_offset == 5


def test_a_snapshot_beyond_the_end_of_the_log_moves_it_there() -> None:
    store = MemorySnapshotStore()
    log = a_log(store)
    id = OffsetAndEpoch(100, 6)
    store.add(id, data(id=id))
    moved = RaftLog(log.log, VoterSet(), store)
    assert (moved.start_offset, moved.end, moved.high_watermark) == (100, id, 100)
    assert moved.history.voters == HEAD.voters
