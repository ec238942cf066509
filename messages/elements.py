"""Counts the elements of a message in its bytes, before any object is made of them.

An empty name of two bytes becomes an object of a hundred, so that the objects of one frame can take
forty times its bytes. This file walks arrays and tag sections by the table of fields, ignores
values, and stops as soon as there are too many elements. It does not report bytes that cannot be
read: the reader will do that.
"""

from __future__ import annotations

from struct import Struct as Shape
from struct import error as StructError

from kafkadouble.wire.errors import WireError
from kafkadouble.wire.varint import read_uvarint

from .fields import SIZES, FieldInfo, fields_of, is_flexible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .message import Message, Struct

    Step = Callable[["_Walk"], None]

NUMBERS_IN_ONE = 4
"""This many numbers in an array count as one element: they take about as much memory as one
struct."""

_int, _short = Shape(">i").unpack_from, Shape(">h").unpack_from


class _TooMany(Exception):
    """Enough was counted."""


class _Walk:
    """The position in the bytes, and how many more elements are allowed."""

    __slots__ = ("at", "body", "left")

    def __init__(self, body: bytes, at: int, left: int) -> None:
        self.body, self.at, self.left = body, at, left

    def take(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise _TooMany
        if self.at > len(self.body):
            raise IndexError

    def uvarint(self) -> int:
        value = self.body[self.at]
        if value < 128:
            self.at += 1
        else:
            value, self.at = read_uvarint(self.body, self.at)
        return value


def exceed(cls: type[Message], body: bytes, version: int, offset: int, most: int) -> bool:
    """Whether the message at `offset` has more than `most` elements in its arrays and tag sections,
    all levels together."""
    walk = _Walk(body, offset, most)
    try:
        for step in _steps(cls, version, is_flexible(cls, version)):
            step(walk)
    except _TooMany:
        return True
    except (IndexError, StructError, WireError):
        return False
    return False


_known: dict[tuple[type[Struct], int, bool], tuple[Step, ...]] = {}


def _steps(cls: type[Struct], version: int, flexible: bool) -> tuple[Step, ...]:
    """Skips one struct."""
    found = _known.get((cls, version, flexible))
    if found is None:
        found = _known[cls, version, flexible] = _made(cls, version, flexible)
    return found


def _made(cls: type[Struct], version: int, flexible: bool) -> tuple[Step, ...]:
    there = (field for field in fields_of(cls) if field.present(version) and not field.is_tagged(version))
    steps = tuple(_step(field, version, flexible) for field in there)
    return (*steps, _tags) if flexible else steps


def _step(field: FieldInfo, version: int, flexible: bool) -> Step:
    compact = field.is_compact(version, flexible)
    if field.array:
        return _array(field, version, flexible, compact)
    if field.struct is None:
        return _scalar(field.type, compact)
    return _struct(field.struct, version, flexible, marked=field.is_nullable(version))


def _scalar(kind: str, compact: bool) -> Step:
    if kind in SIZES:
        return _skip(SIZES[kind])
    return _compact if compact else _text if kind == "string" else _bytes


def _skip(size: int) -> Step:
    def skip(walk: _Walk) -> None:
        walk.at += size

    return skip


def _compact(walk: _Walk) -> None:
    size = walk.uvarint() - 1  # first, because it advances the position
    walk.at += max(size, 0)


def _text(walk: _Walk) -> None:
    walk.at += 2 + max(_short(walk.body, walk.at)[0], 0)


def _bytes(walk: _Walk) -> None:
    walk.at += 4 + max(_int(walk.body, walk.at)[0], 0)


def _tags(walk: _Walk) -> None:
    """A known tag may hold an array: every four of its bytes count as one element."""
    for _ in range(walk.uvarint()):
        walk.uvarint()
        size = walk.uvarint()
        walk.at += size
        walk.take(1 + size // NUMBERS_IN_ONE)


def _struct(cls: type[Struct], version: int, flexible: bool, *, marked: bool) -> Step:
    def struct(walk: _Walk) -> None:
        if marked:
            walk.at += 1
            if walk.body[walk.at - 1] > 127:
                return
        for step in _steps(cls, version, flexible):
            step(walk)

    return struct


def _array(field: FieldInfo, version: int, flexible: bool, compact: bool) -> Step:
    size = SIZES.get(field.type, 0)
    steps = () if field.struct is None else _steps(field.struct, version, flexible)
    steps = steps or (_scalar(field.type, compact),)

    def array(walk: _Walk) -> None:
        if compact:
            count = walk.uvarint() - 1
        else:
            count = _int(walk.body, walk.at)[0]
            walk.at += 4
        if count <= 0:
            return
        if size:
            walk.at += count * size
            walk.take(count // NUMBERS_IN_ONE)
            return
        for _ in range(count):
            walk.take(1)
            for step in steps:
                step(walk)

    return array
