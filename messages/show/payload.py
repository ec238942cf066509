"""Parses the keys and values of records in Kafka's internal logs: control records, metadata,
offsets, transactions, share state.

A payload is a prefix (versions and types) and a message. A control batch is marked as one; for any
other batch the caller passes the kind of the records: `KINDS`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from kafkadouble.wire.control import CONTROL_NAMES
from kafkadouble.wire.errors import Truncated, UnknownMessage, WireError
from kafkadouble.wire.varint import read_uvarint

from .. import registry
from ..coordinator import FAMILIES
from ..framed import FRAME_VERSION
from ..message import Message
from .places import holds_secrets
from .row import FieldRow, error_row
from .rows import message_rows

RAW, METADATA = "raw", "metadata"
_TOPICS = {"offsets": "__consumer_offsets", "transactions": "__transaction_state", "share": "__share_group_state"}
KINDS = (RAW, METADATA, *_TOPICS)
"""The kinds of records; `raw` leaves all but control records as bytes."""

_CONTROL = (
    "EndTxnMarker", "EndTxnMarker", "LeaderChangeMessage", "SnapshotHeaderRecord", "SnapshotFooterRecord", "KRaftVersionRecord", "VotersRecord",
)  # fmt: skip


class PrefixNumber(NamedTuple):
    """One number of the prefix of a message."""

    start: int
    end: int
    what: str
    value: int
    text: str


class ParsedPayload(NamedTuple):
    """`data` has the prefix `parts` and then the message, which begins at `start`. `message` is
    None if it is unknown or unreadable; `error` is then the reason."""

    title: str
    data: bytes
    parts: tuple[PrefixNumber, ...]
    message: type[Message] | None = None
    version: int = 0
    error: WireError | None = None

    @property
    def start(self) -> int:
        return self.parts[-1].end if self.parts else 0

    @property
    def is_secret(self) -> bool:
        """Whether its bytes may be a secret."""
        return self.message is not None and holds_secrets(self.message)

    def read(self) -> Message | None:
        """The message; WireError when it cannot be read."""
        if self.error is not None:
            raise self.error
        return None if self.message is None else self.message.decode(self.data, self.version, self.start)

    def rows(self) -> Iterator[FieldRow]:
        for part in self.parts:
            yield FieldRow(part.start, self.data[part.start : part.end], "", part.value, part.what, part.text)
        if self.error is None and self.message is not None:
            yield from message_rows(self.message, self.data, self.version, self.start)
        elif self.error is not None:
            yield error_row(self.error, self.data[self.start :], self.start)
        elif self.start < len(self.data):
            yield FieldRow(self.start, self.data[self.start :], "", self.data[self.start :], "rest")


def key_payload(kind: str, control: bool, key: bytes | None) -> ParsedPayload | None:
    """The parsed key, or None for the key of an ordinary record."""
    if key is None or (kind == RAW and not control) or (kind == METADATA and not control):
        return None
    if control:
        parts, error = _int16s(key, "version", "type")
        name = control_name(parts[1].value) if len(parts) == 2 else "control record"
        named = tuple(part._replace(text=f"{part.value} {name}") if part.what == "type" else part for part in parts)
        return ParsedPayload(name, key, named, error=error)
    return _entry_payload(key, "type", "coordinator-key", FAMILIES[_TOPICS[kind]])


def value_payload(kind: str, control: bool, key: bytes | None, value: bytes | None) -> ParsedPayload | None:
    """The parsed value; None also for a null value (a tombstone)."""
    if value is None:
        return None
    if control:
        return _control_payload(key_payload(kind, True, key), value)
    if kind == METADATA:
        return _metadata_payload(value)
    if kind == RAW:
        return None
    parsed_key = key_payload(kind, False, key)
    if parsed_key is None or parsed_key.message is None:
        return None
    cls = registry.message(parsed_key.message.__name__.removesuffix("Key") + "Value")
    parts, error = _int16s(value, "version")
    return ParsedPayload(cls.__name__, value, parts, cls, parts[0].value if parts else 0, error)


def control_name(kind: int) -> str:
    return CONTROL_NAMES[kind] if 0 <= kind < len(CONTROL_NAMES) else f"control type {kind}"


def _control_payload(key: ParsedPayload | None, value: bytes) -> ParsedPayload | None:
    """Transaction markers begin with their version. Other control records have the version in their
    first field; a newer version is read as the highest known version."""
    if key is None or key.error is not None or not 0 <= key.parts[1].value < len(_CONTROL):
        return None
    cls = registry.message(_CONTROL[key.parts[1].value])
    parts, error = _int16s(value, "version")
    if error is not None:
        return ParsedPayload(key.title, value, (), error=error)
    if "version" not in cls.__slots__:
        return ParsedPayload(key.title, value, parts, cls)
    return ParsedPayload(key.title, value, (), cls, min(max(parts[0].value, cls.versions[0]), cls.versions[1]))


def _metadata_payload(value: bytes) -> ParsedPayload:
    """Unsigned varints of frame version, type and version, then the message (KIP-746)."""
    parts: list[PrefixNumber] = []
    try:
        for what in ("frame version", "type", "version"):
            at = parts[-1].end if parts else 0
            number, end = read_uvarint(value, at)
            parts.append(PrefixNumber(at, end, what, number, str(number)))
    except IndexError:
        error: WireError = Truncated("the bytes end inside the frame", offset=len(value), path=what)
        return ParsedPayload("record", value, tuple(parts), error=error)
    except WireError as problem:
        return ParsedPayload("record", value, tuple(parts), error=problem)
    if parts[0].value != FRAME_VERSION:
        error = WireError(f"frame version {parts[0].value} is not {FRAME_VERSION}", offset=0, path="frame version")
        return ParsedPayload("record", value, tuple(parts), error=error)
    cls = _classes("metadata", "metadata").get(parts[1].value)
    if cls is None:
        error = UnknownMessage(f"no metadata record has the type {parts[1].value}", offset=1, path="type")
        return ParsedPayload(f"record type {parts[1].value}", value, tuple(parts), error=error)
    parts[1] = parts[1]._replace(text=f"{parts[1].value} {cls.__name__}")
    return ParsedPayload(cls.__name__, value, tuple(parts), cls, parts[2].value)


def _entry_payload(key: bytes, what: str, kind: str, family: str) -> ParsedPayload:
    parts, error = _int16s(key, what)
    if error is not None:
        return ParsedPayload("key", key, parts, error=error)
    number = parts[0].value
    cls = _classes(kind, family).get(number)
    if cls is None:
        unknown = UnknownMessage(f"the {family} has no record of type {number}", offset=0, path=what)
        return ParsedPayload(f"record type {number}", key, parts, error=unknown)
    return ParsedPayload(cls.__name__, key, (parts[0]._replace(text=f"{number} {cls.__name__}"),), cls)


def _int16s(data: bytes, *whats: str) -> tuple[tuple[PrefixNumber, ...], WireError | None]:
    parts: list[PrefixNumber] = []
    for number, what in enumerate(whats):
        at = 2 * number
        if at + 2 > len(data):
            return tuple(parts), Truncated("the bytes end inside the prefix", offset=len(data), path=what)
        value = int.from_bytes(data[at : at + 2], "big", signed=True)
        parts.append(PrefixNumber(at, at + 2, what, value, str(value)))
    return tuple(parts), None


@cache
def _classes(kind: str, family: str) -> dict[int, type[Message]]:
    return {entry.api_key: entry.message for entry in registry.entries(kind, family) if entry.api_key is not None}
