"""The rows of record batches: header, records with their varints, decompressed content, and the
messages in keys and values.

The positions come from `kafkadouble.wire.batch_trace`. Kafka's readers check more than such a walk
can find; `batches` makes the other checks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kafkadouble.wire.batch import HEADER_SIZE, BatchHeader, body_of, read_header
from kafkadouble.wire.batch_trace import (
    MAGIC_POSITION,
    TracedBytes,
    inner_positions,
    trace_header,
    trace_message,
    trace_records,
    unwrapped,
)
from kafkadouble.wire.compression import LIMIT, codec_name
from kafkadouble.wire.errors import CorruptBatch, InvalidRecord, UnknownMessage, WireError
from kafkadouble.wire.record_careful import BatchContext

from .batch_text import crc_problem, header_text
from .payload import RAW, ParsedPayload, key_payload, value_payload
from .row import FieldRow, error_row
from .text import plain


class ShownBatches(NamedTuple):
    """Batches in `data`, whose first byte is shown at offset `shift`. `kind` is what the records
    hold (`payload.KINDS`). Compressed records are decompressed up to `limit` bytes, and shown in
    the layer beneath."""

    data: bytes
    shift: int = 0
    path: str = "batch"
    kind: str = RAW
    limit: int = LIMIT
    layer: int = 0

    def row(self, start: int, end: int, name: str, value: object, what: str = "value", text: str = "") -> FieldRow:
        path = f"{self.path}.{name}" if name else self.path
        return FieldRow(self.shift + start, self.data[start:end], path, value, what, text, self.layer)

    def error(self, error: WireError, start: int, end: int, where: str = "") -> FieldRow:
        """The bytes from `start` cannot be read; `error` has the position in `data`."""
        path = ".".join(filter(None, (self.path, where, error.path)))
        offset = self.shift + (error.offset if error.offset >= 0 else start)
        problem = error.problem + (" (in what was compressed)" if self.layer else "")
        placed = type(error)(problem, offset=offset, path=path)
        return error_row(placed, self.data[start:end], self.shift + start, self.layer)


def batches_rows(walk: ShownBatches, *, partial: bool = False) -> Iterator[FieldRow]:
    """All batches of `walk.data`; with `partial` the last one may be cut off, as in a fetch
    response."""
    position = number = 0
    while position < len(walk.data):
        end = _end(walk.data, position)
        if partial and end > len(walk.data):
            yield walk.row(
                position,
                len(walk.data),
                "",
                walk.data[position:],
                "cut off",
                f"{len(walk.data) - position} bytes of a batch",
            )
            return
        yield from batch_rows(walk._replace(path=f"{walk.path}.batches[{number}]"), position)
        position, number = end, number + 1


def _end(data: bytes, position: int) -> int:
    """The end of a batch by its length; the end of the data when the length is impossible."""
    if len(data) - position < 12:
        return len(data) + 1
    size = int.from_bytes(data[position + 8 : position + 12], "big", signed=True)
    return position + 12 + size if size >= 14 else len(data)


def batch_rows(walk: ShownBatches, position: int = 0) -> Iterator[FieldRow]:
    """The batch at `position`: to its end, or to the end of the data when its length is
    impossible."""
    end = min(_end(walk.data, position), len(walk.data))
    try:
        header = read_header(walk.data, position)
    except WireError as error:
        yield from _broken(walk, position, end, error)
        return
    wrong = crc_problem(walk.data, position, header)
    crc_at = position
    for piece in trace_header(walk.data, position):
        yield walk.row(
            piece.start, piece.end, piece.path, piece.value, text=header_text(piece.path, piece.value, wrong)
        )
        crc_at, position = piece.start if piece.path == "crc" else crc_at, piece.end
    if wrong is not None:
        yield walk.error(CorruptBatch(wrong.problem, offset=crc_at, path="crc"), position, position)
    yield from _body(walk, position, end, header) if header.magic == 2 else _message(walk, position, end, header)


def _broken(walk: ShownBatches, position: int, end: int, error: WireError) -> Iterator[FieldRow]:
    for piece in trace_header(walk.data[:end], position):
        yield walk.row(piece.start, piece.end, piece.path, piece.value, text=header_text(piece.path, piece.value, None))
        position = piece.end
    yield walk.error(error, position, end)


# Magic 2.


def _body(walk: ShownBatches, start: int, end: int, header: BatchHeader) -> Iterator[FieldRow]:
    if header.count == 0 or not header.compression:
        yield from _records(walk, start, end, header)
        return
    packed, codec = walk.data[start:end], codec_name(header.compression)
    row = walk.row(start, end, "records", packed, "compressed", f"{len(packed)} bytes of {codec}")
    try:
        body = body_of(walk.data, start - HEADER_SIZE, header, walk.limit)
    except WireError as error:
        yield row
        yield walk.error(error, end, end, "records")
        return
    inside = walk._replace(data=body, shift=0, layer=walk.layer + 1)
    secret = walk.kind != RAW and any(row.hidden for row in _records(inside, 0, len(body), header))
    yield row._replace(hidden=secret)  # compressed bytes contain pieces of the original
    yield from _records(inside, 0, len(body), header)


def _records(walk: ShownBatches, start: int, end: int, header: BatchHeader) -> Iterator[FieldRow]:
    """The records in `walk.data[start:end]`. Other bytes of a batch without records are not shown
    in detail."""
    at, key = start, None
    try:
        if header.count:
            for piece in trace_records(walk.data[start:end], header.count, BatchContext(start=start, path="records")):
                name = piece.path.partition("].")[2]
                key = None if name == "length" else piece.value if name == "key" else key
                yield from _piece(walk, piece, name, header, key if isinstance(key, bytes) else None)
                at = piece.end
    except InvalidRecord as error:
        yield walk.error(error, at, end)
        return
    if at < end:
        yield walk.row(at, end, "records", walk.data[at:end], "rest")


def _piece(
    walk: ShownBatches, piece: TracedBytes, name: str, header: BatchHeader, key: bytes | None
) -> Iterator[FieldRow]:
    payload = None
    if name == "key" and isinstance(piece.value, bytes):
        payload = key_payload(walk.kind, header.is_control, piece.value)
    elif name == "value" and isinstance(piece.value, bytes):
        payload = value_payload(walk.kind, header.is_control, key, piece.value)
    if payload is not None:
        yield from _payload(walk, piece, payload)
        return
    null = " (null)" if name.endswith("length") and isinstance(piece.value, int) and piece.value < 0 else ""
    yield walk.row(piece.start, piece.end, piece.path, piece.value, text=plain(piece.value) + null)


def _payload(walk: ShownBatches, piece: TracedBytes, payload: ParsedPayload) -> Iterator[FieldRow]:
    """The rows of a key or value at their positions. An unknown type is no error: only inconsistent
    bytes are."""
    for row in payload.rows():
        unknown = isinstance(row.value, UnknownMessage)
        path = f"{piece.path}.{row.path}" if row.path and not unknown else piece.path
        start, end = piece.start + row.offset, piece.start + row.end
        if isinstance(row.value, WireError) and not unknown:
            offset = piece.start + row.value.offset if row.value.offset >= 0 else -1
            shown = walk.error(type(row.value)(row.value.problem, offset=offset, path=path), start, end)
        else:
            value = row.bytes if unknown else row.value
            shown = walk.row(start, end, path, value, "unknown" if unknown else row.what, row.text)
        yield shown._replace(hidden=row.hidden)


# Magic 0 and 1.


def _message(walk: ShownBatches, at: int, end: int, header: BatchHeader) -> Iterator[FieldRow]:
    start, value = end - header.size, b""
    try:
        for piece in trace_message(walk.data, start, header):
            packed = piece.path == "value" and header.compression
            text = (
                f"{piece.end - piece.start} bytes of {codec_name(header.compression)}" if packed else plain(piece.value)
            )
            yield walk.row(piece.start, piece.end, piece.path, piece.value, "compressed" if packed else "value", text)
            at, value = piece.end, piece.value if isinstance(piece.value, bytes) else b""
    except InvalidRecord as error:
        yield walk.error(error, at, end)
        return
    if at < end:
        yield walk.row(at, end, "", walk.data[at:end], "rest")
    if header.compression:
        yield from _unwrapped(walk, end, header, value)


def _unwrapped(walk: ShownBatches, end: int, header: BatchHeader, value: bytes) -> Iterator[FieldRow]:
    """The messages inside a compressed one; Kafka has no second layer."""
    if walk.layer:
        yield walk.error(InvalidRecord("a compressed message inside a compressed one"), end, end)
        return
    try:
        data = unwrapped(header, value, walk.limit)
    except WireError as error:
        yield walk.error(error, end, end, "value")
        return
    at = 0
    inside = walk._replace(data=data, shift=0, layer=walk.layer + 1)
    for number, position in enumerate(inner_positions(data)):
        message = inside._replace(path=f"{walk.path}.messages[{number}]")
        at = _end(data, position)
        if data[position + MAGIC_POSITION] > 1:
            yield message.error(InvalidRecord("a batch inside a compressed message"), position, at)
        else:
            yield from batch_rows(message, position)
    if at < len(data):
        yield inside.row(at, len(data), "", data[at:], "cut off", f"{len(data) - at} bytes of a message")
