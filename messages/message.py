"""The base classes of generated classes: a `Struct` has named fields; a `Message` is a struct that
can be decoded and encoded in each of its versions.

The generated functions handle only valid input. If a generated function fails, the slow modules
`trace` and `unfit` read the same bytes or values again, and report the position and the reason.
This file does not import generated modules.
"""

from __future__ import annotations

import struct

from kafkadouble.wire.errors import TrailingBytes, UnknownMessage, UsageError, WireError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar, Self, TypeAlias

    Buffer: TypeAlias = bytes | bytearray | memoryview
    Reader: TypeAlias = Callable[[bytes, int], tuple[Any, int]]
    Writer: TypeAlias = Callable[[Any, Callable[[Any], None]], None]

OWN_DEFAULTS: Any = object()
"""The default of a struct parameter where None means null: a struct whose fields have their
defaults."""

LARGE = 8192
"""The size in bytes from which a buffer is sent on its own instead of being joined with its
neighbours."""

_UNREADABLE = (IndexError, struct.error, UnicodeDecodeError, WireError)
_UNFIT = (struct.error, TypeError, AttributeError, ValueError, OverflowError)


class Struct:
    """A struct of a message, the same class for all versions. Equal when all fields are equal;
    sequences compare by their elements."""

    __slots__ = ()
    _fields: ClassVar[str] = ""
    unknown_tagged_fields: dict[int, bytes] | None

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return all(_same(getattr(self, name), getattr(other, name)) for name in field_names(type(self)))

    __hash__ = None  # type: ignore[assignment]  # objects that change cannot be keys

    def __repr__(self) -> str:
        from .sentence import sentence

        return sentence(self)


class Message(Struct):
    """A message: `decode` and `encode` it in one of its `versions` (lowest, highest)."""

    __slots__ = ()
    api_key: ClassVar[int | None]
    versions: ClassVar[tuple[int, int]]
    flexible_from: ClassVar[int | None]
    kind: ClassVar[str]
    latest_version_unstable: ClassVar[bool]
    _readers: ClassVar[dict[int, Reader]]
    _writers: ClassVar[dict[int, Writer]]
    _bulky: ClassVar[bool] = False

    @classmethod
    def decode(cls, body: Buffer, version: int, offset: int = 0) -> Self:
        """The message that fills `body` from `offset` to its end. Records are views of the body.

        WireError with offset and path when the bytes are wrong; TrailingBytes when some remain.
        """
        message, end = cls.read(body, version, offset)
        if end != len(body):
            raise TrailingBytes(f"{len(body) - end} bytes are left after {cls.__name__} version {version}", offset=end)
        return message

    @classmethod
    def read(cls, body: Buffer, version: int, offset: int = 0) -> tuple[Self, int]:
        """The message at `offset`, and the position after it. A bytearray that may contain records
        is not copied: the records are views of it."""
        reader = cls._readers.get(version)
        if reader is None or offset < 0:
            raise cls._unknown(version, offset)
        in_place = body.__class__ is bytes or (cls._bulky and body.__class__ is bytearray)
        data: Any = body if in_place else bytes(body)
        try:
            message, end = reader(data, offset)
        except _UNREADABLE as error:
            raise cls._explain(data, version, offset) from error
        if end > len(data):
            raise cls._explain(data, version, offset)
        return message, end

    def encode(self, version: int) -> bytes:
        """The bytes of this message. UsageError names the field and version when a value does not
        fit."""
        return b"".join(self._written(version))

    def parts(self, version: int) -> list[Buffer]:
        """The bytes as buffers for `sendmsg`: records and other large bytes are not copied."""
        return gather(self._written(version)) if self._bulky else [b"".join(self._written(version))]

    def to_json(self, version: int) -> dict[str, Any]:
        """The message as the plain dict of Kafka's own JSON converter, except that records are
        base64 of their bytes."""
        from .json_form import to_json

        return to_json(self, version)

    @classmethod
    def from_json(cls, obj: dict[str, Any], version: int) -> Self:
        """The message of a dict from `to_json`. Raises UsageError, which names a missing mandatory
        field or a value of a wrong type."""
        from .json_form import from_json

        return from_json(cls, obj, version)

    def _written(self, version: int) -> list[Buffer]:
        writer = self._writers.get(version)
        if writer is None:
            raise UsageError(f"{type(self).__name__} has no version {version!r}: {_range(self.versions)}")
        buffers: list[Buffer] = []
        try:
            writer(self, buffers.append)
        except _UNFIT as error:
            from .unfit import unfit

            raise unfit(self, version, error) from error
        return buffers

    @classmethod
    def _unknown(cls, version: int, offset: int) -> WireError | UsageError:
        if offset < 0:
            return UsageError(f"offset {offset} is negative")
        return UnknownMessage(f"{cls.__name__} has no version {version!r}: {_range(cls.versions)}")

    @classmethod
    def _explain(cls, body: bytes, version: int, offset: int) -> WireError:
        from .trace import explain

        return explain(cls, body, version, offset)


def gather(buffers: list[Buffer]) -> list[Buffer]:
    """The same bytes in few buffers: small neighbours are joined, large buffers are not copied."""
    out: list[Buffer] = []
    start = 0
    for at in [number for number, size in enumerate(map(len, buffers)) if size >= LARGE]:
        if start < at:
            out.append(b"".join(buffers[start:at]))
        out.append(buffers[at])
        start = at + 1
    if start < len(buffers):
        out.append(b"".join(buffers[start:]))
    return out


def field_names(cls: type[Struct]) -> tuple[str, ...]:
    """The names of a struct's fields in the order of its specification, and `unknown_tagged_fields`
    last."""
    slots: tuple[str, ...] = cls.__slots__
    return tuple(slot.removeprefix("_") for slot in slots)


def _same(one: object, other: object) -> bool:
    if one == other:
        return True
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)) and len(one) == len(other):
        return all(_same(*pair) for pair in zip(one, other, strict=True))
    return not one and not other and {one.__class__, other.__class__} <= {dict, type(None)}


def _range(versions: tuple[int, int]) -> str:
    return "it has none" if versions[0] > versions[1] else f"it has {versions[0]} to {versions[1]}"


__all__ = ["OWN_DEFAULTS", "Message", "Struct", "field_names", "gather"]
