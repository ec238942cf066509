"""Reads a whole log: its pieces in order, after the snapshot that replaces its deleted beginning
(KIP-630)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from kafkadouble.server.log.formats import names
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.wire.errors import UsageError

from ..logs import records
from ..logs.levels import Paths
from ..logs.options import EARLIEST, REPORT, SKIP, LogOptions
from ..logs.pieces import SegmentPiece, plan

_NAMES = ("offset", "leader_epoch", "timestamp", "key", "value", "control", "transactional", "base_offset", "segment")


class HistoryRecord(NamedTuple):
    """A record of the log. `timestamp` is in ms, or None. `snapshot` is the snapshot that holds it:
    `offset` is then only a number in that file, and the record was written at some earlier time."""

    offset: int
    leader_epoch: int
    timestamp: int | None
    key: bytes | None
    value: bytes | None
    control: bool
    transactional: bool
    base_offset: int
    segment: str
    snapshot: OffsetAndEpoch | None = None


class Chain(NamedTuple):
    """One log. With a `snapshot`, that is read first, and records of the log below its end offset
    are skipped."""

    pieces: tuple[SegmentPiece, ...]
    snapshot: SegmentPiece | None = None

    @property
    def size(self) -> int:
        """The size of the files in bytes."""
        return sum(piece.size for piece in self.pieces) + (self.snapshot.size if self.snapshot else 0)

    @property
    def replica(self) -> str:
        return self.pieces[0].segment.replica

    @property
    def partition(self) -> int | None:
        return self.pieces[0].segment.partition


def chains(paths: Paths, options: LogOptions, topic: str) -> list[Chain]:
    """The logs of this topic at these paths, one for each replica and partition. Raises UsageError
    when there is none. The options `topics` and `partitions` are ignored here: they select by the
    content of the records."""
    everything = options._replace(topics=(), partitions=())
    pieces = plan(paths, everything, split=False)
    found = [piece for piece in pieces if piece.segment.topic == topic] or _named(pieces, paths)
    if not found:
        raise UsageError(f"there is no log of {topic} at {', '.join(map(str, paths))}")
    return [_chain(list(pieces), everything) for _, pieces in groupby(found, key=_folder)]


def _named(pieces: list[SegmentPiece], paths: Paths) -> list[SegmentPiece]:
    """The logs of folders and files that were named directly, whatever their names are."""
    named = {os.path.realpath(path) for path in paths}
    return [each for each in pieces if named & {os.path.realpath(each.segment.path), os.path.realpath(_folder(each))}]


def _folder(piece: SegmentPiece) -> str:
    return os.path.dirname(piece.segment.path)


def _chain(pieces: list[SegmentPiece], options: LogOptions) -> Chain:
    begins = pieces[0].segment.base_offset
    path = None if begins is None or starts_late(options) else _snapshot_for(_folder(pieces[0]), begins)
    return Chain(tuple(pieces), plan([path], options, split=False)[0] if path else None)


def starts_late(options: LogOptions) -> bool:
    """Whether the options exclude the beginning of the log."""
    return options.starting_offsets != EARLIEST or options.starting_timestamp is not None


def _snapshot_for(folder: str, begins: int) -> Path | None:
    """The oldest snapshot whose end offset the log still contains, so that as much as possible is
    read from the log itself. Before a complete log, only the snapshot at offset 0 counts, with
    which a quorum begins."""
    found = [(snapshot, path) for path in Path(folder).iterdir() if (snapshot := names.parse_checkpoint(path.name))]
    good = [each for each in found if (each[0].offset >= begins if begins else each[0].offset == 0)]
    return min(good)[1] if good else None


def entries(chain: Chain, options: LogOptions) -> Iterator[HistoryRecord]:
    """All records in order. A corrupt batch raises BadFile, or is left out when `onCorrupt` is not
    `fail`."""
    options = options._replace(
        include_control=True, on_corrupt=SKIP if options.on_corrupt == REPORT else options.on_corrupt
    )
    after = 0
    if chain.snapshot is not None:
        yield from _of_piece(chain.snapshot, options)
        snapshot = _snapshot_of(chain.snapshot)
        after = snapshot.offset if snapshot else 0
    for piece in chain.pieces:
        yield from (entry for entry in _of_piece(piece, options) if entry.snapshot or entry.offset >= after)


def _snapshot_of(piece: SegmentPiece) -> OffsetAndEpoch | None:
    return names.parse_checkpoint(piece.segment.name)


def _of_piece(piece: SegmentPiece, options: LogOptions) -> Iterator[HistoryRecord]:
    snapshot = _snapshot_of(piece)
    for batch in records.read(piece, _NAMES, options):
        yield from (HistoryRecord._make((*row, snapshot)) for row in zip(*map(_values, batch.columns), strict=True))


def _values(column: pa.Array) -> Sequence[object]:
    if pa.types.is_timestamp(column.type):
        return [None if each is None else each // 1000 for each in column.cast(pa.int64()).to_pylist()]
    found: Sequence[object] = column.to_pylist()
    return found
