"""Estimates how many bytes a value takes in a message, without writing it: in no version, and with
the length of each text as if all its characters were of one size."""

from __future__ import annotations

from typing import Any

from .fields import fields_of
from .message import Struct

_NUMBER, _LENGTH, _LONGEST_CHARACTER = 8, 2, 3


def size_of(value: Any) -> int:
    """The bytes of a value of a field, or of a struct."""
    if isinstance(value, str):
        return _LENGTH + len(value) * (1 if value.isascii() else _LONGEST_CHARACTER)
    if isinstance(value, bytes | bytearray | memoryview):
        return _LENGTH + len(value)
    if isinstance(value, list | tuple):
        return _LENGTH + sum(map(size_of, value))
    if isinstance(value, Struct):
        return sum(size_of(getattr(value, field.name)) for field in fields_of(type(value)))
    return _NUMBER
