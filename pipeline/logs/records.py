"""`level=records`: a row for each record, with the columns of Spark's Kafka source and those of its
batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kafkadouble.server.log.formats import BadFile
from kafkadouble.server.log.formats.errors import bad_from
from kafkadouble.wire import columns
from kafkadouble.wire.errors import WireError

from .batch_runs import RECORD_BYTES, BatchRun
from .levels import TableLevel
from .lost import lost_row
from .options import REPORT, LogOptions
from .pieces import SegmentPiece, plan
from .reading import parts
from .transactions import committed

_ON_REQUEST = "headers"


def schema(options: LogOptions) -> pa.Schema:
    """Headers are a column only on request: they cost as much as all others together."""
    return columns.schema(name for name in columns.NAMES if name != _ON_REQUEST or options.include_headers)


def read(piece: SegmentPiece, names: Sequence[str], options: LogOptions) -> Iterator[pa.RecordBatch]:
    """The records of a piece, some megabytes at a time. Raises BadFile as `onCorrupt` says;
    Vanished when the file is gone."""
    for part in parts(piece, options, RECORD_BYTES):
        if isinstance(part, BatchRun):
            yield from _records(part, piece, names, options)
        elif options.on_corrupt == REPORT and not part.torn:
            # A row for bytes that hold no batch.
            yield lost_row(columns.schema(names), piece.segment, {"batch_position": part.position, "crc_ok": False})


def _records(run: BatchRun, piece: SegmentPiece, names: Sequence[str], options: LogOptions) -> Iterator[pa.RecordBatch]:
    headers = run.headers[selected(run.headers, piece, include_control=options.include_control)]
    crosses = len(headers) and (_begins(headers).min() < piece.first or headers.last_offset.max() >= piece.end_offset)
    made = [*names, "offset"] if crosses and "offset" not in names else list(names)
    try:
        for batch in columns.decode(
            run.buffer, headers, made, _origin(piece, run.position),
            check_crc=options.verify_crc, on_corrupt=options.on_corrupt,
        ):  # fmt: skip
            if crosses:
                batch = columns.between(batch, piece.first, piece.end_offset).select(list(names))
            if batch.num_rows:
                yield batch
    except BadFile:
        raise
    except WireError as problem:
        raise bad_from(problem, piece.segment.path) from None


def selected(headers: columns.Headers, piece: SegmentPiece, *, include_control: bool) -> npt.NDArray[np.bool_]:
    """The batches with records within the bounds."""
    found: npt.NDArray[np.bool_] = (headers.last_offset >= piece.first) & (_begins(headers) < piece.end_offset)
    if not include_control:
        found &= ~headers.control
    if piece.since:
        found &= (headers.max_timestamp >= piece.since) | (headers.max_timestamp < 0)
    if piece.aborted:
        found &= committed(headers, piece.aborted)
    return found


def _begins(headers: columns.Headers) -> npt.NDArray[np.int64]:
    """The lowest possible offset of each batch: wrapper messages of magic 0 and 1 contain only the
    last offset."""
    begins = headers.base_offset
    if (headers.count < 0).any():
        before = np.concatenate(([0], headers.last_offset[:-1] + 1))
        begins = np.where(headers.count < 0, np.minimum(before, begins), begins)
    return begins


def _origin(piece: SegmentPiece, position: int) -> columns.Origin:
    segment = piece.segment
    return columns.Origin(segment.topic, segment.partition, segment.name, segment.replica, position)


LEVEL = TableLevel(schema, plan, read)
