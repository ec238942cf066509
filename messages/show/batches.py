"""Shows record batches: the header, every record, and the messages in keys and values; magic 0, 1
and 2, compressed or not."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import islice

from kafkadouble.wire.batch import BatchHeader, Record, read_header, records_of
from kafkadouble.wire.batch_trace import trace_header
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.compression import LIMIT, codec_name
from kafkadouble.wire.errors import UnknownMessage, WireError

from .as_json import bytes_json, message_json
from .batch_rows import ShownBatches, batch_rows
from .batch_text import attributes_text, crc_problem, header_text
from .lines import LONGEST, clip
from .payload import RAW, ParsedPayload, key_payload, value_payload
from .row import FieldRow, first_error
from .shown import Shown, broken_line, error_json
from .text import HIDDEN, TREE, TextLimits, counted, date, plain
from .trees import STEP, indented, message_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class ShownBatch(Shown):
    """The batch at the start of `data`, or the part that is there; `offset` is the position of the
    data in their file.

    `header` is None when it cannot be read; `cut_off` is true for a batch that is allowed to be
    incomplete, and is.
    """

    def __init__(
        self,
        data: bytes,
        offset: int = 0,
        *,
        records: str = RAW,
        limit: int = LIMIT,
        bounds: TextLimits = TREE,
    ) -> None:
        self.data, self.offset, self.kind, self.bounds = data, offset, records, bounds
        self.header: BatchHeader | None = None
        self.records: list[Record] = []
        self.cut_off = False
        self._walk = ShownBatches(data, offset, "batch", records, limit)
        self._problem: WireError | None = None
        try:
            self.header = read_header(data)
            self._problem = crc_problem(data, 0, self.header)
            self.records = records_of(data, 0, self.header, limit=limit, check_crc=False)
        except WireError as error:
            self._problem = error

    @cached_property
    def error(self) -> WireError | None:
        """The first error, with its position; also of keys and values that are shown as
        messages."""
        if self.cut_off or (self._problem is None and not any(map(self._is_broken, self.records))):
            return None
        return first_error(self.rows()) or self._problem

    def rows(self) -> Iterator[FieldRow]:
        if self.cut_off:
            yield self._walk.row(0, len(self.data), "", self.data, "cut off", f"{len(self.data)} bytes of a batch")
        else:
            yield from batch_rows(self._walk)

    def line(self, longest: int = LONGEST) -> str:
        if self.header is None:
            what = "cut off" if self.cut_off else f"unreadable: {self._problem}"
            return clip(f"batch at {self.offset}, {len(self.data)} bytes, {what}", longest)
        wrong = f" !! {self._problem}" if self._problem else ""
        return clip(f"{_headline(self.header, self.offset, self.records)}{wrong}", longest)

    def tree_lines(self) -> Iterator[str]:
        yield self.line()
        if self.cut_off or (self.header is None and self._problem is None):
            return
        for piece in trace_header(self.data, 0):
            name = "".join(map(str.capitalize, piece.path.split("_")))
            yield f"{STEP}{name}: {header_text(piece.path, piece.value, self._problem if name == 'Crc' and self._wrong_crc() else None)}"
        for record in self.records:
            yield from indented(self._record_lines(record))

    def json(self) -> dict[str, Any]:
        made: dict[str, Any] = {"position": self.offset}
        for piece in trace_header(self.data, 0):
            head, *rest = piece.path.split("_")
            made[head + "".join(map(str.capitalize, rest))] = piece.value
        if self.header is not None:
            made["compression"] = codec_name(self.header.compression)
            made["records"] = [self._record_json(record) for record in self.records]
        if (error := self.error) is not None:
            made["broken"] = error_json(error)
        return made

    def _wrong_crc(self) -> bool:
        return self.header is not None and crc_problem(self.data, 0, self.header) is not None

    # Records.

    def payloads(self, record: Record) -> tuple[ParsedPayload | None, ParsedPayload | None]:
        """The parsed key and the parsed value."""
        control = self.header is not None and self.header.magic == 2 and self.header.is_control
        return key_payload(self.kind, control, record.key), value_payload(self.kind, control, record.key, record.value)

    def _is_broken(self, record: Record) -> bool:
        return any(
            isinstance(_read(payload), WireError) and not isinstance(_read(payload), UnknownMessage)
            for payload in self.payloads(record)
        )

    def _record_lines(self, record: Record) -> Iterator[str]:
        key, value = self.payloads(record)
        texts = [f"offset {record.offset}", f"at {date(record.timestamp)}"]
        titles = [payload.title for payload in (key, value) if payload is not None]
        if key is None:
            texts.append(f"key {plain(record.key, self.bounds)}")
        if value is None:
            texts.append(f"value {plain(record.value, self.bounds)}")
        yield ", ".join(texts) + (f": {titles[0]}" if titles else "")
        for name, content in islice(record.headers, self.bounds.items):
            yield f"{STEP}header {plain(name, self.bounds)}: {plain(content, self.bounds)}"
        for payload in (key, value):
            if payload is not None:
                yield from indented(self._payload_lines(payload))

    def _payload_lines(self, payload: ParsedPayload) -> Iterator[str]:
        found = _read(payload)
        if isinstance(found, WireError):
            yield broken_line(found)
            data = HIDDEN if payload.is_secret else plain(payload.data, self.bounds)
            yield f"{counted(len(payload.data), 'byte')} {data}"
        elif found is not None:
            yield from message_lines(found, payload.version, bounds=self.bounds)

    def _record_json(self, record: Record) -> dict[str, Any]:
        key, value = self.payloads(record)
        headers = [{"key": name, "value": bytes_json(content)} for name, content in record.headers]
        made = {"offset": record.offset, "timestamp": record.timestamp, "headers": headers}
        made["key"] = bytes_json(record.key) if key is None else _payload_json(key)
        made["value"] = bytes_json(record.value) if value is None else _payload_json(value)
        return made


def _read(payload: ParsedPayload | None) -> Any:
    """The message, None for none, or the WireError."""
    try:
        return None if payload is None else payload.read()
    except WireError as error:
        return error


def _payload_json(payload: ParsedPayload) -> dict[str, Any]:
    found = _read(payload)
    if isinstance(found, WireError):
        raw = HIDDEN if payload.is_secret else bytes_json(payload.data)
        return {"type": payload.title, "bytes": raw, "broken": error_json(found)}
    data = {} if found is None else {"version": payload.version, "data": message_json(found, payload.version)}
    return {"type": payload.title, **data}


def _headline(header: BatchHeader, offset: int, records: list[Record]) -> str:
    first, last = header.base_offset, header.last_offset
    if header.magic < 2 and records:
        first, last = records[0].offset, records[-1].offset
    count = header.count if header.magic == 2 else len(records)
    flags = attributes_text(header.attributes)
    start = f"batch at {offset}, {header.size} bytes, magic {header.magic}"
    return f"{start}: offsets {first} to {last}, {counted(count, 'record')}, epoch {header.partition_leader_epoch}, {flags}"


def batch(
    data: Buffer, position: int = 0, *, records: str = RAW, limit: int = LIMIT, bounds: TextLimits = TREE
) -> ShownBatch:
    """The batch at `position`, alone."""
    rest = bytes(memoryview(data)[position:])
    end = 12 + max(int.from_bytes(rest[8:12], "big", signed=True), 0) if len(rest) >= 12 else len(rest)
    return ShownBatch(rest[:end], position, records=records, limit=limit, bounds=bounds)
