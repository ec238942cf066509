"""A snapshot of the metadata log and the image that it stands for: one from the other (KIP-630).

An image may only be written as of an offset at which no metadata transaction is open (KIP-868), and where a batch ends: what follows in the log
must go on from it.
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
from ..raft.snapshots.creating import create
from ..raft.snapshots.head import Head
from ..raft.snapshots.reading import SnapshotReader
from ..raft.snapshots.store import SnapshotStore
from ..raft.snapshots.writing import Steps, write
from ..requests.gc_pause import all_kept
from .broken_log import BrokenLog
from .bulk import apply_all
from .image import Image
from .image_records import values_of
from .replay import Fold

__all__ = ["image_of", "loading", "values_of", "writing"]


def writing(
    fold: Fold, end: OffsetAndEpoch, log: RaftLog, store: SnapshotStore, timestamp: int, now: int
) -> Steps | None:
    """A snapshot of what `fold` has seen of `log`, up to `end`, whose last record was appended at `timestamp`. None when there is no need, or a
    metadata transaction is open. UsageError for a place in the log that no snapshot may end at."""
    part = None if fold.in_transaction else create(log, store, end)
    if part is None:
        return None
    voters, version = log.history.voters_at(end.offset), log.history.kraft_version_at(end.offset)
    head = Head(timestamp, version, voters if version else None)
    return write(part, head, values_of(fold.image), now)


def loading(reader: SnapshotReader) -> Iterator[Image]:
    """The image so far, after each batch; the last one is the whole. BadFile when the snapshot cannot be read, or contradicts itself."""
    fold, known = Fold(), dict[Any, Any]()
    for values in reader.values():
        _apply(fold, values, known, reader.file)
        yield fold.image
    yield fold.image._replace(end=reader.id)


def image_of(reader: SnapshotReader) -> Image:
    """The whole image. BadFile as above."""
    with all_kept():
        return deque(loading(reader), maxlen=1).pop()


def _apply(fold: Fold, values: list[bytes], known: dict[Any, Any], file: str) -> None:
    try:
        apply_all(fold, (framed.decode_record(value)[0] for value in values), known)
    except WireError as problem:
        raise bad_from(problem, file) from problem
    except BrokenLog as problem:
        raise BadFile(str(problem), file=file) from problem
