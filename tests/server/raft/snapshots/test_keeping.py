"""Logs and snapshots are cut together, and fit one another at every moment."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft.raft_log import FollowerPosition, RaftLog
from kafkadouble.server.raft.snapshots.cleaner import (
    advance_as_follower,
    advance_as_leader,
    clean,
    forget_old,
    kept,
    size_from,
)
from kafkadouble.server.raft.snapshots.file_store import FileSnapshotStore
from kafkadouble.server.raft.snapshots.memory_store import MemorySnapshotStore
from kafkadouble.server.raft.snapshots.retention import SnapshotRetention
from kafkadouble.server.raft.snapshots.snapshot_header import SnapshotHeader
from kafkadouble.server.raft.snapshots.snapshot_writer import write_at_once
from kafkadouble.server.raft.voters import VoterSet
from tests.simulation.machine import Died, MortalDisk

from .making import NOW, data, value

ENDS = (10, 20, 30)


def made(*ends: int, count: int = 40, committed: int = 40) -> tuple[RaftLog, MemorySnapshotStore]:
    """A log with one record per batch and one batch per segment, and snapshots at these ends, with
    these timestamps.
    """
    store = MemorySnapshotStore()
    log = RaftLog(PartitionLog("__cluster_metadata", 0, LogConfig({"segment.bytes": 100})), VoterSet(), store)
    log.begin_epoch(1)
    for number in range(count):
        log.append_values([value(number)], 1, NOW)
    log.commit(committed)
    for end in ends:
        id = OffsetAndEpoch(end, 1)
        store.add(id, data(id=id, head=SnapshotHeader(NOW + end)))
    return log, store


def state(log: RaftLog, store: MemorySnapshotStore) -> tuple[int, list[int]]:
    return log.start_offset, [id.offset for id in store.ids()]


def test_kept_snapshots_are_listed_with_their_size_and_time() -> None:
    _, store = made(*ENDS)
    assert [(each.id.offset, each.timestamp) for each in kept(store)] == [(end, NOW + end) for end in ENDS]
    assert [each.size for each in kept(store)] == [store.size(id) for id in store.ids()]


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ({}, (0, [10, 20, 30])),
        ({"max_ms": 100}, (0, [10, 20, 30])),
        ({"max_ms": 85}, (20, [20, 30])),
        ({"max_ms": 0}, (30, [30])),
        ({"max_bytes": 0}, (30, [30])),
        ({"max_bytes": 1 << 30}, (0, [10, 20, 30])),
    ],
)
def test_shipped_the_log_begins_where_the_oldest_that_stays_ends(
    bounds: dict[str, Any], expected: tuple[int, list[int]]
) -> None:
    log, store = made(*ENDS)
    clean(log, store, SnapshotRetention(**{"max_bytes": -1, "max_ms": -1, **bounds}), NOW + 100)
    assert state(log, store) == expected


def test_shipped_bytes_are_those_of_the_log_and_of_all_snapshots() -> None:
    log, store = made(*ENDS)
    everything = size_from(log, 0) + sum(each.size for each in kept(store))
    assert size_from(log, 10) < size_from(log, 0)
    clean(log, store, SnapshotRetention(everything, -1), NOW)
    assert state(log, store) == (0, [10, 20, 30])
    clean(log, store, SnapshotRetention(everything - 1, -1), NOW)
    assert state(log, store) == (20, [20, 30])


def test_without_a_snapshot_nothing_goes() -> None:
    log, store = made()
    clean(log, store, SnapshotRetention(0, 0), NOW)
    assert state(log, store) == (0, [])


@pytest.mark.parametrize(
    ("replicas", "expected"), [([40, 25], (20, [20, 30])), ([40, 40], (30, [30])), ([5], (0, [10, 20, 30]))]
)
def test_adopted_a_leader_waits_for_its_live_replicas(replicas: list[int], expected: tuple[int, list[int]]) -> None:
    log, store = made(*ENDS)
    advance_as_leader(log, store, replicas, SnapshotRetention(max_lag_ms=1000), NOW)
    assert state(log, store) == expected


def test_adopted_a_leader_waits_for_so_long() -> None:
    log, store = made(*ENDS)
    advance_as_leader(log, store, [0], SnapshotRetention(max_lag_ms=1000), NOW + 1020)
    assert state(log, store) == (20, [20, 30])


@pytest.mark.parametrize(("leaders", "expected"), [(25, (20, [20, 30])), (9, (0, [10, 20, 30])), (99, (30, [30]))])
def test_adopted_a_follower_goes_after_its_leader(leaders: int, expected: tuple[int, list[int]]) -> None:
    log, store = made(*ENDS)
    advance_as_follower(log, store, leaders, NOW)
    assert state(log, store) == expected


def test_adopted_snapshot_that_is_not_committed_stays() -> None:
    log, store = made(*ENDS, committed=40)
    lower, lower_store = made(10, 20, committed=20)
    lower_store.add(OffsetAndEpoch(30, 1), data(id=OffsetAndEpoch(30, 1)))
    advance_as_follower(lower, lower_store, 99, NOW)
    assert state(lower, lower_store) == (20, [20, 30])
    assert state(log, store) == (0, [10, 20, 30])


def test_snapshot_before_the_log_start_is_deleted() -> None:
    log, store = made(*ENDS)
    log.move_start(OffsetAndEpoch(20, 1))
    forget_old(log, store, NOW)
    assert state(log, store) == (20, [20, 30])


def test_a_log_that_was_cut_starts_again() -> None:
    log, store = made(*ENDS)
    clean(log, store, SnapshotRetention(-1, 0), NOW + 1000)
    again = RaftLog(log.log, VoterSet(), store)
    assert (again.start_offset, again.end_offset) == (30, 40)


FOLDER = "__cluster_metadata-0"


def dies_after(changes: int, retention: SnapshotRetention) -> tuple[bool, RaftLog]:
    """A log that begins at the first of three snapshots is cleaned, and the process dies after
    `changes` changes of its disk. Returns whether it died, and the log that the next process finds.
    """
    disk, [log, _] = MortalDisk(), made()
    disk.make_folder(FOLDER)
    store = FileSnapshotStore(disk, FOLDER)
    for end in ENDS:
        part = store.create(OffsetAndEpoch(end, 1))
        assert part is not None
        write_at_once(part, SnapshotHeader(NOW + end), [value(end)], NOW)
    log.snapshots = store
    log.move_start(store.ids()[0])
    disk.dies_after = changes
    died = True
    with suppress(Died):
        clean(log, store, retention, NOW + 100)
        died = False
    disk.dies_after = None
    return died, RaftLog(log.log, VoterSet(), FileSnapshotStore(disk, FOLDER))


@pytest.mark.parametrize(
    ("bounds", "start"), [({"max_ms": 85}, 20), ({"max_ms": 0}, 30), ({"max_bytes": 0}, 30)], ids=lambda each: str(each)
)
def test_wherever_a_process_is_killed_the_log_begins_where_a_snapshot_ends(bounds: dict[str, int], start: int) -> None:
    retention, changes, died, starts = SnapshotRetention(**{"max_bytes": -1, "max_ms": -1, **bounds}), 0, True, set()
    while died:
        died, log = dies_after(changes, retention)
        changes += 1
        starts.add(log.start_offset)
        assert log.earliest_snapshot == OffsetAndEpoch(log.start_offset, 1)
        assert log.validate(log.start_offset, 1).position is FollowerPosition.VALID
    assert changes > 1
    assert starts == {start}, "first the log moves, then snapshots go"


@pytest.mark.parametrize("adopted", [False, True])
def test_segments_before_the_start_that_are_left_over_go_at_the_next_look(adopted: bool) -> None:
    """The log start had moved, and something came between that and their deletion."""
    log, store = made(*ENDS)
    log.log.delete_records_before(20)
    assert log.log.segments[0].base_offset < 19
    if adopted:
        advance_as_leader(log, store, [0], SnapshotRetention(max_lag_ms=10**9), NOW)
    else:
        clean(log, store, SnapshotRetention(-1, -1), NOW)
    assert log.start_offset == 20
    assert log.log.segments[0].base_offset == 20
