"""Finds the aborted transactions of a partition and its last stable offset, for readers of
committed records (KIP-98).

The `.txnindex` holds the aborted transactions, and the newest producer snapshot the open ones at
its offset; after it, the control batches are read. For a log without these files, such as a single
segment, all control batches are read. Only headers, and the records of control batches, are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kafkadouble.server.log.formats import BadFile, names, producer_snapshot, txn_index
from kafkadouble.server.log.marker import read_marker
from kafkadouble.server.log.transactions import AbortedTransaction
from kafkadouble.wire import columns
from kafkadouble.wire.errors import WireError

from .batch_runs import BatchRun, batch_runs
from .indexes import OffsetIndex
from .log_filter import FAR
from .options import SKIP
from .segment_file import Vanished, opened
from .segments import SegmentListing, reaching


class Aborted(NamedTuple):
    """The records of this producer between these offsets are aborted."""

    producer_id: int
    first_offset: int
    last_offset: int


class TransactionOutcomes(NamedTuple):
    """The aborted transactions, and the last stable offset: the first offset of an open
    transaction."""

    aborted: tuple[Aborted, ...] = ()
    stable: int = FAR

    def between(self, first: int, end: int) -> tuple[Aborted, ...]:
        """The aborted transactions that overlap these offsets."""
        return tuple(aborted for aborted in self.aborted if aborted.last_offset >= first and aborted.first_offset < end)


def decided(folder: str, log: list[SegmentListing]) -> TransactionOutcomes:
    """The outcomes of a whole log."""
    start, still_open, aborted = _remembered(folder, log) or (0, {}, [])
    for producer_id, offset, ends in _events(log, start):
        if ends is None:
            still_open.setdefault(producer_id, offset)
        elif (first := still_open.pop(producer_id, None)) is not None and ends:
            aborted.append(Aborted(producer_id, first, offset))
    return TransactionOutcomes(tuple(aborted), min(still_open.values(), default=FAR))


def committed(headers: columns.Headers, aborted: tuple[Aborted, ...]) -> npt.NDArray[np.bool_]:
    """Which batches are committed."""
    good = np.ones(len(headers), bool)
    transactional = headers.transactional & ~headers.control
    if len(headers) and transactional.any():
        first, last = headers.base_offset[0], headers.last_offset[-1]
        for each in aborted:
            if each.first_offset <= last and each.last_offset >= first:
                inside = (headers.base_offset >= each.first_offset) & (headers.base_offset <= each.last_offset)
                good &= ~(transactional & inside & (headers.producer_id == each.producer_id))
    return good


def _remembered(folder: str, log: list[SegmentListing]) -> tuple[int, dict[int, int], list[Aborted]] | None:
    """The content of the index and snapshot files: an offset, the open transactions at it, and the
    aborted ones before it. None when a file is missing."""
    if not all(segment.beside(names.INDEX).exists() for segment in log):
        return None
    try:
        listed = [entry for segment in log for entry in _listed(segment)]
        snapshot = _newest_snapshot(Path(folder), log[-1] if log else None)
    except (OSError, BadFile):
        return None
    if snapshot is None:
        return None
    offset, still_open = snapshot
    aborted = [Aborted(each.producer_id, each.first_offset, each.last_offset) for each in listed]
    return offset, still_open, [each for each in aborted if each.last_offset < offset]


def _listed(segment: SegmentListing) -> list[AbortedTransaction]:
    path = segment.beside(names.TXN_INDEX)
    return txn_index.read(path.read_bytes(), segment.base_offset or 0, str(path)) if path.exists() else []


def _newest_snapshot(folder: Path, last: SegmentListing | None) -> tuple[int, dict[int, int]] | None:
    """The offset of the producer snapshot, and the first offset of every transaction that was open
    there. A snapshot that is newer than the last segment may be newer than the log, after a
    crash."""
    offsets = [
        found[0] for path in folder.iterdir() if (found := names.parse_file(path.name)) and found[1] == names.SNAPSHOT
    ]
    limit = last.base_offset or 0 if last else 0
    usable = max((offset for offset in offsets if offset <= limit), default=None)
    if usable is None:
        return None
    path = folder / (names.segment_name(usable) + names.SNAPSHOT)
    entries = producer_snapshot.read(path.read_bytes(), str(path))
    first = {entry.producer_id: entry.current_txn_first_offset for entry in entries}
    return usable, {producer_id: offset for producer_id, offset in first.items() if offset >= 0}


def _events(log: list[SegmentListing], start: int) -> Iterator[tuple[int, int, bool | None]]:
    """Every transactional batch from an offset on: producer, first offset, and for a marker whether
    it aborts."""
    for segment in reaching(log, start):
        try:
            with opened(segment) as file:
                position = OffsetIndex(segment, file).position_before(start)
                for run in batch_runs(file, segment, position, segment.size, SKIP):
                    if isinstance(run, BatchRun):
                        yield from _in_run(run, start)
        except Vanished:
            continue  # the reader of its records reports it


def _in_run(run: BatchRun, start: int) -> Iterator[tuple[int, int, bool | None]]:
    headers = run.headers
    chosen = headers[headers.transactional & (headers.base_offset >= start)]
    fields = (chosen.position, chosen.size, chosen.producer_id, chosen.base_offset, chosen.control)
    for position, size, producer_id, offset, control in zip(*(each.tolist() for each in fields), strict=True):
        if not control:
            yield producer_id, offset, None
            continue
        try:
            marker = read_marker(memoryview(run.buffer)[position : position + size])
        except WireError:
            continue  # the reader of its records reports it
        if marker is not None:
            yield producer_id, offset, marker.aborted
