"""Shrinks a failing message as long as it still fails: fields get their defaults, arrays become
shorter, values become simpler. The message is changed in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kafkadouble.messages.fields import FieldInfo, fields_of
from kafkadouble.messages.message import Message, Struct

from .making import structs_of

TRIES = 2000
"""The largest number of attempts. The result need not be the smallest message."""


def shrink(message: Message, version: int, fails: Callable[[], bool]) -> None:
    """Makes `message` smaller as long as `fails()` is true."""
    tries = TRIES
    changed = True
    while changed:
        changed = False
        for struct, name, value in _plainer(message, version):
            if (tries := tries - 1) < 0:
                return
            before = getattr(struct, name)
            setattr(struct, name, value)
            if fails():
                changed = True
                break
            setattr(struct, name, before)


def _plainer(message: Message, version: int) -> Iterator[tuple[Struct, str, Any]]:
    """Every change of one field that makes the message smaller: struct, name, value."""
    for struct in structs_of(message, version):
        for field in fields_of(type(struct)):
            value = getattr(struct, field.name)
            for candidate in _candidates(field, value):
                yield struct, field.name, candidate
        if struct.unknown_tagged_fields:
            yield struct, "unknown_tagged_fields", None
            for tag, data in struct.unknown_tagged_fields.items():
                rest = struct.unknown_tagged_fields.items() - {(tag, data)}
                if rest:
                    yield struct, "unknown_tagged_fields", dict(sorted(rest))
                if data:
                    yield struct, "unknown_tagged_fields", dict(sorted(rest | {(tag, b"")}))


def _candidates(field: FieldInfo, value: Any) -> Iterator[Any]:
    if value is None or field.is_default(value):
        return
    yield field.initial()
    if field.array or isinstance(value, (str, bytes)):
        yield from _shorter(value)
    elif isinstance(value, int) and not isinstance(value, bool) and value not in (0, 1):
        yield from (0, 1)


def _shorter(value: Any) -> Iterator[Any]:
    size = len(value)
    if size > 1:
        yield value[: size // 2]
        yield value[size // 2 :]
        if size <= 10:
            for at in range(size):
                yield value[:at] + value[at + 1 :]
