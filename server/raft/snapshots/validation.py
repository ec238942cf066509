"""Checks whether a snapshot may be created at an offset of the log (KIP-630, "Validation of
Snapshot and Log").

The offset must be committed, still in the log, of the log's epoch there, and the start of a batch:
the rest of a batch could not follow a snapshot. This file only reads the log.
"""

from __future__ import annotations

from kafkadouble.wire.errors import UsageError

from ...log.offset_and_epoch import OffsetAndEpoch
from ..raft_log import FollowerPosition, RaftLog
from .store import RawSnapshotWriter, SnapshotStore


def create(log: RaftLog, store: SnapshotStore, id: OffsetAndEpoch) -> RawSnapshotWriter | None:
    """Creates the snapshot `id` of `log`; None if the log starts later, or the snapshot exists.
    UsageError if the snapshot would be invalid.
    """
    if id.offset < log.start_offset or id in store.ids():
        return None
    problem = _problem(log, id)
    if problem is not None:
        raise UsageError(f"no snapshot up to {id!r}: {problem}")
    return store.create(id)


def _problem(log: RaftLog, id: OffsetAndEpoch) -> str | None:
    if id.offset > log.high_watermark:
        return f"only what lies below {log.high_watermark} is committed"
    validity = log.validate(id.offset, id.epoch)
    if validity.position is not FollowerPosition.VALID:
        return f"{validity.position.value} at {validity.at!r}, says the log"
    if id.offset > log.start_offset and log.log.epochs.epoch_for(id.offset - 1) != id.epoch:
        return "the log has another epoch there"
    if not _is_aligned(log, id.offset):
        return "a batch has begun before it, and not ended"
    return None


def _is_aligned(log: RaftLog, offset: int) -> bool:
    if offset == log.end_offset:
        return True
    return log.read(offset, 1).offset == offset
