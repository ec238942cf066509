"""Estimates the encoded size of a value in bytes, without encoding it. The estimate is the same for
every version. It counts 3 bytes for each character of a text that is not ASCII."""

from __future__ import annotations

from typing import Any

from .fields import fields_of
from .message import Struct

_NUMBER, _LENGTH, _LONGEST_CHARACTER = 8, 2, 3


def size_of(value: Any) -> int:
    """The estimated size in bytes of a field's value, or of a struct."""
    if isinstance(value, str):
        return _LENGTH + len(value) * (1 if value.isascii() else _LONGEST_CHARACTER)
    if isinstance(value, bytes | bytearray | memoryview):
        return _LENGTH + len(value)
    if isinstance(value, list | tuple):
        return _LENGTH + sum(map(size_of, value))
    if isinstance(value, Struct):
        return sum(size_of(getattr(value, field.name)) for field in fields_of(type(value)))
    return _NUMBER
