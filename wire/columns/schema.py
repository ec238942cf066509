"""The columns that a record can have: their names, their order and their types.

The first seven, and the headers, are those of Spark's Kafka source. The others describe the
position of a record and its batch.
"""

from collections.abc import Iterable
from typing import NamedTuple

import pyarrow as pa

from kafkadouble.wire.errors import UsageError

HEADERS = pa.list_(pa.field("element", pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])))

TYPES = {
    "key": pa.binary(),
    "value": pa.binary(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestampType": pa.int32(),
    "headers": HEADERS,
    "leader_epoch": pa.int32(),
    "base_offset": pa.int64(),
    "batch_position": pa.int64(),
    "segment": pa.string(),
    "codec": pa.string(),
    "transactional": pa.bool_(),
    "control": pa.bool_(),
    "producer_id": pa.int64(),
    "producer_epoch": pa.int32(),
    "sequence": pa.int32(),
    "crc_ok": pa.bool_(),
    "replica": pa.string(),
}
"""Name -> type, in order. All are nullable: `value` is null in the row that reports a corrupt
batch, `crc_ok` when checksums are not verified, a `timestamp` outside of the range of Arrow's
microseconds, a `sequence` of a batch without a producer id."""

NAMES = tuple(TYPES)
"""Every column, in order."""


class Origin(NamedTuple):
    """The values that all rows of a buffer share. `position` is where the buffer begins in its
    file."""

    topic: str | None
    partition: int | None
    segment: str | None = None
    replica: str | None = None
    position: int = 0


def schema(names: Iterable[str] = NAMES) -> pa.Schema:
    """The schema of record batches with these columns. UsageError for a name that is none of
    NAMES."""
    return pa.schema([pa.field(name, _type(name)) for name in names])


def _type(name: str) -> pa.DataType:
    if name not in TYPES:
        raise UsageError(f"records have no column {name!r}; they have {', '.join(NAMES)}")
    return TYPES[name]
