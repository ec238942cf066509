"""Makes the Arrow columns of rows, with one function for each column: from the record, or from the
header of its batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from kafkadouble.wire.compression import codec_name

from .fixed import binary, fixed, same
from .headers import Headers, Ints
from .schema import TYPES, Origin

_MOST_MS = ((1 << 63) - 1) // 1000  # of either sign, that fits into 64 bits as microseconds


class Common(NamedTuple):
    """The values that all rows of one call of `decode` share."""

    schema: pa.Schema
    origin: Origin
    crc_ok: bool | None


class Rows:
    """A slice of rows: `which` holds for each row the index of its batch in `headers`. Subclasses
    know the source of the record fields."""

    def __init__(self, common: Common, headers: Headers, which: Ints) -> None:
        self.common, self.headers, self.which = common, headers, which

    def keys(self) -> pa.Array:
        raise NotImplementedError

    def values(self) -> pa.Array:
        raise NotImplementedError

    def header_lists(self) -> pa.Array:
        raise NotImplementedError

    def offsets(self) -> Ints:
        raise NotImplementedError

    def timestamps(self) -> Ints:
        """Milliseconds."""
        raise NotImplementedError

    def crc_oks(self) -> pa.Array:
        if self.common.crc_ok is None:
            return pa.nulls(len(self.which), pa.bool_())
        return fixed(np.full(len(self.which), self.common.crc_ok), pa.bool_())

    def of_batch(self, name: str) -> Ints:
        """A field of each row's batch."""
        values: Ints = getattr(self.headers, name).take(self.which)
        return values


def record_batch(rows: Rows) -> pa.RecordBatch:
    """The rows, with the columns of the schema."""
    schema = rows.common.schema
    if not len(schema):  # so that the rows can at least be counted
        return pa.record_batch([pa.nulls(len(rows.which))], ["nothing"]).select([])
    return pa.RecordBatch.from_arrays([_MAKERS[name](rows) for name in schema.names], schema=schema)


def _timestamps(rows: Rows) -> pa.Array:
    stamps = rows.timestamps()
    beyond = (stamps > _MOST_MS) | (stamps < -_MOST_MS)
    return fixed(stamps * 1000, TYPES["timestamp"], beyond)


def _timestamp_types(rows: Rows) -> pa.Array:
    """-1 for magic 0, which has no timestamps."""
    kinds = np.where(rows.of_batch("magic") == 0, -1, rows.of_batch("timestamp_type"))
    return fixed(kinds.astype(np.int32), pa.int32())


def _sequences(rows: Rows) -> pa.Array:
    """After 2^31-1 comes 0 (KIP-98)."""
    first = rows.of_batch("base_sequence")
    total = first + (rows.offsets() - rows.of_batch("base_offset"))
    total = np.where(total >= 1 << 31, total - (1 << 31), total)
    return fixed(total.astype(np.int32), pa.int32(), first == -1)


def _codecs(rows: Rows) -> pa.Array:
    used = rows.of_batch("codec")
    if (used == used[0]).all():
        return same(codec_name(int(used[0])), len(used), pa.string())
    names = [codec_name(codec) for codec in range(8)]
    ends = np.cumsum([0, *map(len, names)])
    return binary(ends, "".join(names).encode()).cast(pa.string()).take(fixed(used, pa.int64()))


def _positions(rows: Rows) -> pa.Array:
    return fixed(rows.of_batch("position") + rows.common.origin.position, pa.int64())


def _partitions(rows: Rows) -> pa.Array:
    partition, count = rows.common.origin.partition, len(rows.which)
    return pa.nulls(count, pa.int32()) if partition is None else fixed(np.full(count, partition, np.int32), pa.int32())


def _same(name: str) -> Callable[[Rows], pa.Array]:
    """A text of the origin."""
    return lambda rows: same(getattr(rows.common.origin, name), len(rows.which), pa.string())


def _batch(name: str, kind: Any) -> Callable[[Rows], pa.Array]:
    """A field of the batch's header."""
    return lambda rows: fixed(rows.of_batch(name).astype(kind, copy=False), TYPES[name])


_MAKERS: dict[str, Callable[[Rows], pa.Array]] = {
    "key": lambda rows: rows.keys(),
    "value": lambda rows: rows.values(),
    "topic": _same("topic"),
    "partition": _partitions,
    "offset": lambda rows: fixed(rows.offsets(), pa.int64()),
    "timestamp": _timestamps,
    "timestampType": _timestamp_types,
    "headers": lambda rows: rows.header_lists(),
    "leader_epoch": _batch("leader_epoch", np.int32),
    "base_offset": _batch("base_offset", np.int64),
    "batch_position": _positions,
    "segment": _same("segment"),
    "codec": _codecs,
    "transactional": _batch("transactional", bool),
    "control": _batch("control", bool),
    "producer_id": _batch("producer_id", np.int64),
    "producer_epoch": _batch("producer_epoch", np.int32),
    "sequence": _sequences,
    "crc_ok": lambda rows: rows.crc_oks(),
    "replica": _same("replica"),
}
