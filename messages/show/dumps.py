"""A message as rows: every byte with its field, and record batches with their records."""

from __future__ import annotations

from collections.abc import Iterator

from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.errors import WireError

from ..message import Message
from .batch_rows import ShownBatches, batches_rows
from .payload import RAW
from .places import Places
from .row import FieldRow, first_error
from .rows import message_rows

UNALIGNED = "unaligned_records"
"""The field of FetchSnapshot whose bytes may begin and end inside a batch (KIP-630)."""


def hexdump(body: Buffer, cls: type[Message], version: int, offset: int = 0, *, records: str = RAW) -> list[FieldRow]:
    """The rows of the message that fills `body` from `offset` on.

    When the message cannot be read, the last row holds the remaining bytes, and its value is the
    WireError.
    """
    return list(expanded(cls, bytes(body), version, offset, records))


def expanded(cls: type[Message], body: bytes, version: int, start: int, kind: str) -> Iterator[FieldRow]:
    """The rows of `message_rows`, with the rows of batches in place of each field of records."""
    places = Places(cls)
    for row in message_rows(cls, body, version, start):
        field = places.field(row.path) if row.what == "value" and not isinstance(row.value, WireError) else None
        if field is None or field.type != "records":
            yield row
        else:
            yield from records_rows(cls, row, field.name, kind)


def records_rows(cls: type[Message], row: FieldRow, name: str, kind: str) -> Iterator[FieldRow]:
    """The rows of the batches in a field. A response may end inside a batch; a slice of a snapshot
    may also begin inside one."""
    walk = ShownBatches(row.bytes, row.offset, row.path, kind)
    if name == UNALIGNED and first_error(batches_rows(walk, partial=True)) is not None:
        yield row
    else:
        yield from batches_rows(walk, partial=cls.kind == "response")
