"""Values that no plain value may hold: texts that are no Unicode, and integers of more than 64
bits.

Python, JSON and YAML can write half a surrogate pair, which no message of Kafka can carry: a name
with one would be kept, and every answer that lists it would fail. Integers of thousands of digits
cannot be printed by Python, and take a time that grows with the square of the digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MOST_BITS = 64
MOST_DIGITS = 20
"""The decimal digits of the largest integer of 64 bits."""

TOO_LARGE = f"an integer has at most {MOST_BITS} bits"
SHOWN = 40
"""The characters of a text that an error shows."""


def fault_of(value: Any) -> str | None:
    """The problem of a value, or of a value inside it; None if there is no problem. It looks into
    mappings, lists, tuples and sets."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Mapping):
            waiting.extend(each)
            waiting.extend(each.values())
        elif isinstance(each, list | tuple | set | frozenset):
            waiting.extend(each)
        elif fault := scalar_fault(each):
            return fault
    return None


def scalar_fault(value: Any) -> str | None:
    """The problem of one text or number, or None."""
    if isinstance(value, str):
        return None if is_unicode(value) else f"a text has no half of a surrogate pair, as {value[:SHOWN]!a} has"
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        return f"{TOO_LARGE}, and this one has {value.bit_length()}"
    return None


def is_unicode(text: str) -> bool:
    """Whether a text can be written as UTF-8."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def integer(text: str) -> int:
    """The integer that a text of JSON writes. Raises ValueError for one of too many digits, which
    Python would read in a time that grows with their square."""
    if len(text.lstrip("-")) > MOST_DIGITS:
        raise ValueError(f"{TOO_LARGE}, and this one has {len(text)} digits")
    return int(text)
