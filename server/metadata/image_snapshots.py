"""Converts between a snapshot of the metadata log and its image (KIP-630).

An image may only be written as of an offset without an open metadata transaction (KIP-868) and at
the end of a batch: the log must continue from there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from kafkadouble.messages import framed
from kafkadouble.wire.errors import WireError

from ..log.formats.errors import BadFile, bad_from
from ..log.offset_and_epoch import OffsetAndEpoch
from ..raft.raft_log import RaftLog
from ..raft.snapshots.snapshot_header import SnapshotHeader
from ..raft.snapshots.snapshot_reader import RecordsSnapshotReader
from ..raft.snapshots.snapshot_writer import Steps, write
from ..raft.snapshots.store import SnapshotStore
from ..raft.snapshots.validation import create
from ..requests.gc_pause import all_kept
from .broken_log import BrokenLog
from .bulk_replay import replay_all
from .image import Image
from .image_records import encoded_records_of
from .replay import MetadataDelta

__all__ = ["encoded_records_of", "load_image", "load_stepwise", "start_writing"]


def start_writing(
    delta: MetadataDelta, end: OffsetAndEpoch, log: RaftLog, store: SnapshotStore, timestamp: int, now: int
) -> Steps | None:
    """Starts a snapshot of `delta`'s image up to `end` of `log`; the last record before `end` was
    appended at `timestamp`. None if the snapshot exists, or a metadata transaction is open.
    UsageError if no snapshot may end there.
    """
    part = None if delta.in_transaction else create(log, store, end)
    if part is None:
        return None
    voters, version = log.history.voters_at(end.offset), log.history.kraft_version_at(end.offset)
    head = SnapshotHeader(timestamp, version, voters if version else None)
    return write(part, head, encoded_records_of(delta.image), now)


def load_stepwise(reader: RecordsSnapshotReader) -> Iterator[Image]:
    """The image so far after each batch; the last one is complete. BadFile if the snapshot cannot
    be read, or contradicts itself.
    """
    delta, known = MetadataDelta(), dict[Any, Any]()
    for values in reader.values():
        try:
            replay_all(delta, (framed.decode_record(value)[0] for value in values), known)
        except WireError as problem:
            raise bad_from(problem, reader.file) from problem
        except BrokenLog as problem:
            raise BadFile(str(problem), file=reader.file) from problem
        yield delta.image
    yield delta.image._replace(end=reader.id)


def load_image(reader: RecordsSnapshotReader) -> Image:
    """The complete image. BadFile as above."""
    with all_kept():
        return deque(load_stepwise(reader), maxlen=1).pop()
