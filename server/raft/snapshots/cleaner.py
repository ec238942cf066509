"""What `retention` says, done to a log and its snapshots: the log begins later, and what ends before its beginning goes (KIP-630).

Rules. First the log moves, then its segments go that lie wholly before its start, then snapshots: whenever this is interrupted, a snapshot
reaches to where the log begins. What an interruption left of the segments goes at the next look. At the start of a replica, and after it has
taken a snapshot over, `forget_old` removes what nothing goes on from.
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
    """Delete the snapshots that end before the log begins; the newest stays."""
    for id in before(store.ids(), log.start_offset):
        store.delete(id, now)


def clean(log: RaftLog, store: SnapshotStore, retention: SnapshotRetention, now: int) -> None:
    """By size and age, as shipped."""
    log.delete_old_segments()
    snapshots = kept(store)
    gone = expired(snapshots, log.start_offset, lambda start: size_from(log, start), retention, now)
    if gone:
        _begin_at(log, snapshots[len(gone)].id)
        for each in gone:
            store.delete(each.id, now)


def advance_as_leader(
    log: RaftLog, store: SnapshotStore, replicas: Iterable[int], retention: SnapshotRetention, now: int
) -> None:
    """By what all live replicas have reached, and by `max_lag_ms`, as adopted. `replicas` are the ends of their logs."""
    assert retention.max_lag_ms is not None
    _advance(log, store, leaders_start(kept(store), log.start_offset, replicas, retention.max_lag_ms, now), now)


def advance_as_follower(log: RaftLog, store: SnapshotStore, leaders: int, now: int) -> None:
    """After the leader's log, which begins at `leaders`, as adopted."""
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
    """The bytes of the log's segments that would be left, if it began at `start`."""
    segments = log.log.segments
    return sum(each.size for each in segments if each.next_offset > start or each is segments[-1])
