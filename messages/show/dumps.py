"""A message as rows: every byte of it with the field that it belongs to, the record batches inside taken apart."""

from __future__ import annotations

from collections.abc import Iterator

from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.errors import WireError

from ..message import Message
from .batch_rows import BatchWalk, batches_rows
from .payload import RAW
from .places import Places
from .row import FieldRow, first_error
from .rows import message_rows

UNALIGNED = "unaligned_records"
"""The field of FetchSnapshot whose bytes may begin and end inside a batch (KIP-630)."""


def hexdump(body: Buffer, cls: type[Message], version: int, offset: int = 0, *, records: str = RAW) -> list[FieldRow]:
    """The rows of the message that fills `body` from `offset` on.

    When it cannot be read the last row is what is left of it, and its value the WireError.
    """
    return list(expanded(cls, bytes(body), version, offset, records))


def expanded(cls: type[Message], body: bytes, version: int, start: int, kind: str) -> Iterator[FieldRow]:
    """`message_rows` with the fields of records as rows of batches."""
    places = Places(cls)
    for row in message_rows(cls, body, version, start):
        field = places.field(row.path) if row.what == "value" and not isinstance(row.value, WireError) else None
        if field is None or field.type != "records":
            yield row
        else:
            yield from records_rows(cls, row, field.name, kind)


def records_rows(cls: type[Message], row: FieldRow, name: str, kind: str) -> Iterator[FieldRow]:
    """The rows of the batches that a field holds. An answer may end inside a batch; a slice of a snapshot may also begin there."""
    walk = BatchWalk(row.bytes, row.offset, row.path, kind)
    if name == UNALIGNED and first_error(batches_rows(walk, partial=True)) is not None:
        yield row
    else:
        yield from batches_rows(walk, partial=cls.kind == "response")
