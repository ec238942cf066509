"""`level=batches`: a row for each record batch, from its header alone. Records are not read, and
nothing is decompressed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kafkadouble.server.log.formats import BadFile
from kafkadouble.wire import columns
from kafkadouble.wire.batch_header import COMPRESSION_MASK, DELETE_HORIZON_FLAG
from kafkadouble.wire.columns.fixed import fixed
from kafkadouble.wire.compression import codec_name

from .batch_runs import BatchRun
from .levels import TableLevel, chosen
from .lost import lost_row
from .options import FAIL, REPORT, SKIP, SPLIT_BYTES, LogOptions
from .pieces import SegmentPiece, plan
from .reading import parts
from .records import selected
from .segments import SegmentListing

_ROWS = 1 << 16
_TIME = pa.timestamp("us", "UTC")
LATEST_TIME = (2**63 - 1) // 1000
"""The last millisecond that a timestamp in microseconds can hold."""

_DTYPES = {pa.int64(): np.int64, pa.int32(): np.int32, pa.bool_(): np.bool_}

_CODECS = pa.array([codec_name(codec) for codec in range(COMPRESSION_MASK + 1)])


class _Batches(NamedTuple):
    """The input of the columns."""

    headers: columns.Headers
    position: int
    crc_ok: npt.NDArray[np.bool_] | None


_Maker = Callable[[_Batches], Any]


def _number(name: str) -> _Maker:
    return lambda batches: getattr(batches.headers, name)


def _time(milliseconds: npt.NDArray[np.int64], known: npt.NDArray[np.bool_]) -> pa.Array:
    """Null when it is unknown, or later than microseconds can hold."""
    none = ~known | (milliseconds > LATEST_TIME)
    return fixed(np.where(none, 0, milliseconds * 1000), _TIME, none)


def _max_timestamp(batches: _Batches) -> pa.Array:
    max_timestamp = batches.headers.max_timestamp
    return _time(max_timestamp, max_timestamp >= 0)


def _has_horizon(batches: _Batches) -> npt.NDArray[np.bool_]:
    headers = batches.headers
    found: npt.NDArray[np.bool_] = (headers.magic == 2) & (headers.attributes & DELETE_HORIZON_FLAG != 0)
    return found


def _base_timestamp(batches: _Batches) -> pa.Array:
    base_timestamp = batches.headers.base_timestamp
    return _time(base_timestamp, (base_timestamp >= 0) & ~_has_horizon(batches))


def _delete_horizon(batches: _Batches) -> pa.Array:
    return _time(batches.headers.base_timestamp, _has_horizon(batches))


def _count(batches: _Batches) -> pa.Array:
    return fixed(batches.headers.count.astype(np.int32), pa.int32(), batches.headers.count < 0)


_COLUMNS: dict[str, tuple[Any, _Maker | None]] = {
    "topic": (pa.string(), None),
    "partition": (pa.int32(), None),
    "base_offset": (pa.int64(), _number("base_offset")),
    "last_offset": (pa.int64(), _number("last_offset")),
    "count": (pa.int32(), _count),
    "leader_epoch": (pa.int32(), _number("leader_epoch")),
    "segment": (pa.string(), None),
    "position": (pa.int64(), lambda batches: batches.headers.position + batches.position),
    "size": (pa.int32(), _number("size")),
    "magic": (pa.int32(), _number("magic")),
    "codec": (pa.string(), lambda batches: _CODECS.take(pa.array(batches.headers.codec))),
    "timestampType": (pa.int32(), _number("timestamp_type")),
    "base_timestamp": (_TIME, _base_timestamp),
    "max_timestamp": (_TIME, _max_timestamp),
    "delete_horizon": (_TIME, _delete_horizon),
    "transactional": (pa.bool_(), _number("transactional")),
    "control": (pa.bool_(), _number("control")),
    "producer_id": (pa.int64(), _number("producer_id")),
    "producer_epoch": (pa.int32(), _number("producer_epoch")),
    "base_sequence": (pa.int32(), _number("base_sequence")),
    "crc": (pa.int64(), _number("crc")),
    "crc_ok": (pa.bool_(), lambda batches: batches.crc_ok),
    "replica": (pa.string(), None),
}
"""Name -> type, and the function that makes the column; None for a value that all rows of a piece
share."""


def schema(options: LogOptions) -> pa.Schema:
    return pa.schema([(name, type) for name, (type, _) in _COLUMNS.items()])


def read(piece: SegmentPiece, names: Sequence[str], options: LogOptions) -> Iterator[pa.RecordBatch]:
    """The batches of a piece. Raises BadFile as `onCorrupt` says, also for a wrong checksum;
    Vanished when the file is gone."""
    named = chosen(schema(options), names)
    for part in parts(piece, options):
        if isinstance(part, BatchRun):
            batches = _checked(part, piece, options)
            for start in range(0, len(batches.headers), _ROWS):
                yield _rows(batches, slice(start, start + _ROWS), piece, named)
        elif options.on_corrupt == REPORT and not part.torn:
            size = min(part.end - part.position, 2**31 - 1)
            yield lost_row(named, piece.segment, {"position": part.position, "size": size, "crc_ok": False})


def _checked(run: BatchRun, piece: SegmentPiece, options: LogOptions) -> _Batches:
    """The batches within the bounds, with the results of their checksums."""
    headers = run.headers[selected(run.headers, piece, include_control=True)]
    if not options.verify_crc:
        return _Batches(headers, run.position, None)
    good = columns.good_crc(run.buffer, headers)
    if options.on_corrupt == FAIL and not good.all():
        position = run.position + int(headers.position[~good][0])
        raise wrong_checksum(piece.segment, position)
    if options.on_corrupt == SKIP:
        headers, good = headers[good], good[good]
    return _Batches(headers, run.position, good)


def wrong_checksum(segment: SegmentListing, position: int) -> BadFile:
    return BadFile("the checksum of a batch does not match", file=segment.path, offset=position, path="crc")


def _rows(batches: _Batches, place: slice, piece: SegmentPiece, named: pa.Schema) -> pa.RecordBatch:
    crc_ok = None if batches.crc_ok is None else batches.crc_ok[place]
    part = _Batches(batches.headers[place], batches.position, crc_ok)
    return pa.RecordBatch.from_arrays([_column(field, part, piece) for field in named], schema=named)


def _column(field: pa.Field, batches: _Batches, piece: SegmentPiece) -> pa.Array:
    maker, number = _COLUMNS[field.name][1], len(batches.headers)
    if maker is None:
        value = piece.segment.name if field.name == "segment" else getattr(piece.segment, field.name)
        return pa.repeat(pa.scalar(value, field.type), number)
    made = maker(batches)
    if made is None:
        return pa.nulls(number, field.type)
    return made if isinstance(made, pa.Array) else fixed(made.astype(_DTYPES[field.type]), field.type)


_SPLIT = SPLIT_BYTES._replace(default=256 << 20)
"""Headers are read ten times as fast as records, so tasks of the usual size would cost more to
start than to run."""

LEVEL = TableLevel(schema, plan, read, (_SPLIT,))
