"""Helpers of generated codecs for values that are not small and plain: long lengths, long arrays,
nulls, buffers, and errors.

Readers take `(bytes, value already read, position)`. Compact lengths are length + 1 and 0 means
null (KIP-482); those that do not fit in one byte are read here. The errors have no position: the
caller of the generated code reads the bytes again, slowly, to find the position.
"""

from __future__ import annotations

from struct import Struct

from .errors import BadLength, NullNotAllowed, UsageError
from .file_slice import FileSlice
from .varint import ONE_BYTE, more_uvarint, write_uvarint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeAlias

    Write: TypeAlias = Callable[[Any], None]

LONGEST_TEXT = 32767
"""Kafka's limit for the bytes of a string, also for strings whose length is a varint."""


def long_text(b: bytes, n: int, p: int) -> tuple[int, int]:
    """The compact length of a string that cannot be null."""
    n, p = long_text_or_null(b, n, p)
    return (n, p) if n else refuse_null()


def long_text_or_null(b: bytes, n: int, p: int) -> tuple[int, int]:
    if n > 127:
        n, p = more_uvarint(b, n, p)
    if n > LONGEST_TEXT + 1:
        raise BadLength(f"a string of {n - 1} bytes is longer than {LONGEST_TEXT}")
    return n, p


def long_bytes(b: bytes, n: int, p: int) -> tuple[int, int]:
    """The compact length of bytes that cannot be null. The caller detects missing bytes at the end
    of the message."""
    n, p = long_bytes_or_null(b, n, p)
    return (n, p) if n else refuse_null()


def long_bytes_or_null(b: bytes, n: int, p: int) -> tuple[int, int]:
    return more_uvarint(b, n, p) if n > 127 else (n, p)


def long_count(b: bytes, n: int, p: int) -> tuple[int, int]:
    """The compact count of an array that cannot be null."""
    n, p = long_count_or_null(b, n, p)
    return (n, p) if n else refuse_null()


def long_count_or_null(b: bytes, n: int, p: int) -> tuple[int, int]:
    if n > 127:
        n, p = more_uvarint(b, n, p)
    if n - 1 > len(b) - p:
        raise BadLength(f"{n - 1} elements are announced, {len(b) - p} bytes remain")
    return n, p


def check_count(b: bytes, n: int, p: int) -> None:
    """Refuses a plain count that is null or more than the bytes that remain."""
    if n < 0:
        refuse_null()
    check_count_or_null(b, n, p)


def check_count_or_null(b: bytes, n: int, p: int) -> None:
    if n > len(b) - p:
        raise BadLength(f"{n} elements are announced, {len(b) - p} bytes remain")


def refuse_null() -> Any:
    raise NullNotAllowed("a null, which this version does not allow")


# Arrays of numbers.

_LETTERS = {"unpack_o": "?"} | {f"unpack_{letter}": letter for letter in "bhHiIqd"}


def __getattr__(name: str) -> Any:
    """`unpack_i` and its siblings: unpackers of 0 to 126 numbers, by count + 1; created when the
    first module uses them."""
    if name not in _LETTERS:
        raise AttributeError(name)
    table = [None, *(Struct(f">{count}{_LETTERS[name]}").unpack_from for count in range(127))]
    globals()[name] = table
    return table


def long_numbers(b: bytes, n: int, p: int, letter: str, nullable: bool) -> tuple[tuple[Any, ...] | None, int]:
    """A compact array of numbers whose count is null or does not fit in one byte."""
    n, p = long_count_or_null(b, n, p)
    return plain_numbers(b, n - 1, p, letter, nullable)


def plain_numbers(b: bytes, n: int, p: int, letter: str, nullable: bool) -> tuple[tuple[Any, ...] | None, int]:
    """An array of `n` numbers; null when `n` is negative."""
    if n < 0:
        return (None, p) if nullable else refuse_null()
    check_count_or_null(b, n, p)
    numbers = Struct(f">{n}{letter}")
    return numbers.unpack_from(b, p), p + numbers.size


class Shapes(dict["int | tuple[int, ...]", "Callable[..., bytes]"]):
    """Pack functions for one run of fixed values and arrays, by the arrays' lengths (a number, or a
    tuple of numbers); created on first use."""

    MOST = 1024

    def __init__(self, template: str) -> None:
        self._template = template

    def __missing__(self, counts: int | tuple[int, ...]) -> Callable[..., bytes]:
        pack = Struct(
            self._template.format(*counts) if isinstance(counts, tuple) else self._template.format(counts)
        ).pack
        if len(self) < self.MOST:
            self[counts] = pack
        return pack


def write_numbers(w: Write, numbers: Sequence[Any] | None, letter: str) -> None:
    """A compact array of numbers of any length, or null."""
    if numbers is None:
        w(ONE_BYTE[0])
        return
    w(write_uvarint(len(numbers) + 1))
    w(Struct(f">{len(numbers)}{letter}").pack(*numbers))


def write_plain_numbers(w: Write, numbers: Sequence[Any] | None, letter: str) -> None:
    if numbers is None:
        w(b"\xff\xff\xff\xff")
        return
    w(Struct(f">i{len(numbers)}{letter}").pack(len(numbers), *numbers))


# Writing.


def text_size(n: int) -> bytes:
    """The compact length (length + 1) of a string that does not fit in one byte."""
    if n > LONGEST_TEXT + 1:
        raise UsageError(f"a string of {n - 1} bytes is longer than {LONGEST_TEXT}")
    return write_uvarint(n)


size = write_uvarint
"""The compact length or count that does not fit in one byte."""


def buffer(value: Any) -> Any:
    """A view of single bytes of any buffer, without a copy; a FileSlice as it is. Raises TypeError
    for anything else."""
    if isinstance(value, FileSlice):
        return value
    view = memoryview(value)
    return view if view.format == "B" and view.ndim == 1 and view.contiguous else view.cast("B")


def join_uuids(values: Sequence[bytes]) -> bytes:
    for value in values:
        if len(value) != 16:
            refuse_uuid()
    return b"".join(values)


def refuse_uuid() -> None:
    raise UsageError("a uuid has 16 bytes")


def refuse_text() -> None:
    raise UsageError("a str where a sequence of strings is required")


def refuse_absent() -> None:
    raise UsageError("a field is set that this version cannot carry")
