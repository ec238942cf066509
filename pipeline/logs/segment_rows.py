"""`level=segments`: a row for each file, from its name, its batch headers and its index files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from kafkadouble.wire import columns

from .batch_runs import BatchRun, UnreadableRange
from .batches import LATEST_TIME, wrong_checksum
from .indexes import entries
from .levels import Paths, TableLevel, chosen
from .options import FAIL, LogOptions
from .pieces import SegmentPiece
from .pieces import plan as plan_pieces
from .reading import parts
from .segment_file import Vanished

_EPOCH = pa.struct([pa.field("epoch", pa.int32()), pa.field("start_offset", pa.int64())])

_TYPES = {
    "topic": pa.string(),
    "partition": pa.int32(),
    "segment": pa.string(),
    "base_offset": pa.int64(),
    "first_offset": pa.int64(),
    "last_offset": pa.int64(),
    "size": pa.int64(),
    "batches": pa.int64(),
    "records": pa.int64(),
    "max_timestamp": pa.timestamp("us", "UTC"),
    "index_entries": pa.int64(),
    "timeindex_entries": pa.int64(),
    "txnindex_entries": pa.int64(),
    "epochs": pa.list_(pa.field("element", _EPOCH)),
    "torn_bytes": pa.int64(),
    "bad_batches": pa.int64(),
    "problem": pa.string(),
    "replica": pa.string(),
}
"""Name -> type. `records` counts those of magic 2; `problem` is the first error, and only filled
when `onCorrupt` is not `fail`."""


def schema(options: LogOptions) -> pa.Schema:
    return pa.schema(list(_TYPES.items()))


def plan(paths: Paths, options: LogOptions) -> list[SegmentPiece]:
    """Whole files that contain offsets within the bounds."""
    pieces = plan_pieces(paths, options, split=False)
    return [piece._replace(start=0, end=piece.segment.size) for piece in pieces]


def read(piece: SegmentPiece, names: Sequence[str], options: LogOptions) -> Iterator[pa.RecordBatch]:
    """One row. Raises BadFile and Vanished as for batches; no row for a missing file when data may
    be missing."""
    seen = _Seen(piece, options)
    try:
        for part in parts(piece, options._replace(fail_on_data_loss=True)):
            seen.take(part)
    except Vanished:
        if options.fail_on_data_loss:
            raise
        return
    row = seen.row()
    yield pa.RecordBatch.from_pylist([{name: row[name] for name in names}], chosen(schema(options), names))


class _Seen:
    """The sums of the batches that were read so far."""

    def __init__(self, piece: SegmentPiece, options: LogOptions) -> None:
        self._segment, self._options = piece.segment, options
        self._batches = self._records = self._torn = self._bad = 0
        self._first: int | None = None
        self._last: int | None = None
        self._latest = -1
        self._epochs: list[dict[str, int]] = []
        self._problem: str | None = None

    def take(self, run: BatchRun | UnreadableRange) -> None:
        if isinstance(run, UnreadableRange):
            self._torn += run.end - run.position if run.torn else 0
            if not run.torn:
                self._note(str(run.problem))
            return
        headers = run.headers
        if self._options.verify_crc:
            self._check(run)
        self._batches += len(headers)
        self._records += int(headers.count[headers.count > 0].sum())
        self._first = int(headers.base_offset[0]) if self._first is None else self._first
        self._last = int(headers.last_offset[-1])
        self._latest = max(self._latest, int(headers.max_timestamp.max()))
        epochs = headers.leader_epoch
        before = self._epochs[-1]["epoch"] if self._epochs else None
        for index in [0, *(np.flatnonzero(np.diff(epochs)) + 1).tolist()]:
            epoch = int(epochs[index])
            if epoch >= 0 and epoch != before:
                self._epochs.append({"epoch": epoch, "start_offset": int(headers.base_offset[index])})
                before = epoch

    def _check(self, run: BatchRun) -> None:
        good = columns.good_crc(run.buffer, run.headers)
        if good.all():
            return
        self._bad += int((~good).sum())
        position = run.position + int(run.headers.position[~good][0])
        problem = wrong_checksum(self._segment, position)
        if self._options.on_corrupt == FAIL:
            raise problem
        self._note(str(problem))

    def _note(self, problem: str) -> None:
        self._problem = self._problem or problem

    def row(self) -> dict[str, Any]:
        segment = self._segment
        by_offset, by_time, of_transactions = entries(segment)
        return {
            "topic": segment.topic,
            "partition": segment.partition,
            "segment": segment.name,
            "base_offset": segment.base_offset,
            "first_offset": self._first,
            "last_offset": self._last,
            "size": segment.size,
            "batches": self._batches,
            "records": self._records,
            "max_timestamp": self._latest * 1000 if 0 <= self._latest <= LATEST_TIME else None,
            "index_entries": by_offset,
            "timeindex_entries": by_time,
            "txnindex_entries": of_transactions,
            "epochs": self._epochs,
            "torn_bytes": self._torn,
            "bad_batches": self._bad,
            "problem": self._problem,
            "replica": segment.replica,
        }


LEVEL = TableLevel(schema, plan, read)
