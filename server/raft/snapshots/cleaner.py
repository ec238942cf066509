"""Deletes old snapshots and the log before them, as `retention` decides (KIP-630).

First the log start offset moves, then segments before it are deleted, then snapshots: after an
interruption at any point a snapshot reaches the log start offset. Segments that an interruption
left are deleted next time. `forget_old` removes useless snapshots at the start of a replica, and
after it has fetched a snapshot.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...log.offset_and_epoch import OffsetAndEpoch
from ..raft_log import RaftLog
from .retention import SnapshotInfo, SnapshotRetention, before, expired, followers_start, leaders_start
from .store import SnapshotStore


def kept(store: SnapshotStore) -> list[SnapshotInfo]:
    """The snapshots of a store, oldest first."""
    return [SnapshotInfo(id, store.size(id), store.timestamp(id)) for id in store.ids()]


def forget_old(log: RaftLog, store: SnapshotStore, now: int) -> None:
    """Deletes snapshots that end before the log start offset; the newest stays."""
    for id in before(store.ids(), log.start_offset):
        store.delete(id, now)


def clean(log: RaftLog, store: SnapshotStore, retention: SnapshotRetention, now: int) -> None:
    """By size and age, as Kafka ships it."""
    log.delete_old_segments()
    snapshots = kept(store)
    deletable = expired(snapshots, log.start_offset, lambda start: size_from(log, start), retention, now)
    if deletable:
        _begin_at(log, snapshots[len(deletable)].id)
        for each in deletable:
            store.delete(each.id, now)


def advance_as_leader(
    log: RaftLog, store: SnapshotStore, replicas: Iterable[int], retention: SnapshotRetention, now: int
) -> None:
    """By the log end offsets `replicas` of all live replicas, and by `max_lag_ms`: KIP-630 as
    adopted.
    """
    assert retention.max_lag_ms is not None
    _advance(log, store, leaders_start(kept(store), log.start_offset, replicas, retention.max_lag_ms, now), now)


def advance_as_follower(log: RaftLog, store: SnapshotStore, leaders: int, now: int) -> None:
    """Follows the leader's log start offset `leaders`: KIP-630 as adopted."""
    _advance(log, store, followers_start(_committed(log, store), log.start_offset, leaders), now)


def _committed(log: RaftLog, store: SnapshotStore) -> Sequence[OffsetAndEpoch]:
    return [id for id in store.ids() if id.offset <= log.high_watermark]


def _advance(log: RaftLog, store: SnapshotStore, id: OffsetAndEpoch | None, now: int) -> None:
    log.delete_old_segments()
    if id is not None and id.offset <= log.high_watermark:
        _begin_at(log, id)
        forget_old(log, store, now)


def _begin_at(log: RaftLog, id: OffsetAndEpoch) -> None:
    if id.offset > log.start_offset:
        log.move_start(id)


def size_from(log: RaftLog, start: int) -> int:
    """The size (bytes) of the log's segments if the log started at `start`."""
    segments = log.log.segments
    return sum(segment.size for segment in segments if segment.next_offset > start or segment is segments[-1])
