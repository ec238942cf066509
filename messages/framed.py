"""Metadata records as bytes: unsigned varints of frame version (1), record type and record version,
then the message (KIP-746, KIP-631).

The bytes are the value of a record in `__cluster_metadata`, and, with the family `storage`, in
`__remote_log_metadata`. Bytes after the message are an error. Frame version 0 was used by a
preview; it is refused, as in Kafka.
"""

from __future__ import annotations

from kafkadouble.wire.errors import Truncated, UnknownMessage, UsageError, WireError
from kafkadouble.wire.varint import read_uvarint, write_uvarint

from . import registry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .message import Message

FRAME_VERSION = 1
LARGEST = 32767
"""The highest type and version."""

_TYPES = {
    family: {entry.api_key: entry for entry in registry.entries("metadata", family)}
    for family in ("metadata", "storage")
}


class _Frames(dict[tuple[int, int], bytes]):
    """A cache: type and version -> the bytes before the message. It is small, because only existing
    classes and versions are written."""

    def __missing__(self, key: tuple[int, int]) -> bytes:
        kind, version = key
        self[key] = made = write_uvarint(FRAME_VERSION) + write_uvarint(kind) + write_uvarint(version)
        return made


_FRAMES = _Frames()


def encode_record(message: Message, version: int) -> bytes:
    """The value of a record. UsageError when the message is no metadata record, or does not fit."""
    if message.kind != "metadata" or message.api_key is None:
        raise UsageError(f"{type(message).__name__} is not a metadata record")
    body = message.encode(version)
    return _FRAMES[message.api_key, version] + body


def decode_record(data: bytes, family: str = "metadata") -> tuple[Message, int]:
    """The message and its version. UnknownMessage for a type or version that is not known;
    WireError for anything else."""
    # the form of nearly all records
    if len(data) > 2 and data[0] == FRAME_VERSION and data[1] < 128 and data[2] < 128:
        kind, version, at = data[1], data[2], 3
    else:
        kind, version, at = _frame(data)
    entry = _TYPES[family].get(kind)
    if entry is None:
        raise UnknownMessage(f"no metadata record has the type {kind}", offset=1, path="type")
    return entry.message.decode(data, version, at), version


def _frame(data: bytes) -> tuple[int, int, int]:
    """Type, version, and the position of the message."""
    frame, at = _small(data, 0, "frame version")
    if frame != FRAME_VERSION:
        raise WireError(f"frame version {frame} is not {FRAME_VERSION}", offset=0, path="frame version")
    kind, at = _small(data, at, "type")
    version, at = _small(data, at, "version")
    return kind, version, at


def _small(data: bytes, at: int, what: str) -> tuple[int, int]:
    try:
        value, end = read_uvarint(data, at)
    except IndexError:
        raise Truncated("the bytes end inside the frame", offset=at, path=what) from None
    if value > LARGEST:
        raise WireError(f"{value} is too large", offset=at, path=what)
    return value, end
