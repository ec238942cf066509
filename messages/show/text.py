"""One value as text: error codes and API keys by name, times as dates, bytes and long strings cut,
no control characters for a terminal."""

from __future__ import annotations

from typing import NamedTuple

from kafkadouble.wire.errors import UnknownMessage

from .. import error_codes, registry
from ..fields import FieldInfo
from ..uuid import Uuid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HIDDEN = "<hidden>"
"""The text in place of a secret."""


class TextLimits(NamedTuple):
    """How much of a value is shown: characters of a string, bytes, elements of an array."""

    text: int
    data: int
    items: int


LINE = TextLimits(80, 24, 5)
TREE = TextLimits(400, 64, 64)
FULL = TextLimits(1 << 62, 1 << 62, 1 << 62)

_YEAR_10000 = 253_402_300_800_000
_DAY = 86_400_000


def value_text(field: FieldInfo | None, value: Any, bounds: TextLimits = TREE) -> str:
    """A scalar as text; the field is None when it is unknown."""
    if field is not None and value is not None:
        if field.type == "int16" and field.kafka_name.endswith("ErrorCode"):
            return f"{value} {error_codes.name(value)}"
        if field.type == "int16" and field.kafka_name.endswith("ApiKey"):
            return f"{value} {api_name(value)}"
        name = field.kafka_name.lower()
        if field.type == "int64" and ("timestamp" in name or name.endswith(("starttimems", "appendtimems"))):
            return time_text(value)
        if field.type == "uuid":
            return str(Uuid(value))
    return plain(value, bounds)


def plain(value: Any, bounds: TextLimits = TREE) -> str:
    """A value as text, cut when it is long."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Uuid):
        return str(value)
    if isinstance(value, str):
        return cut(value, bounds.text, "characters")
    if isinstance(value, (bytes, bytearray, memoryview)):
        return cut(value, bounds.data, "bytes")
    return str(value)


def cut(value: str | bytes | bytearray | memoryview, most: int, unit: str) -> str:
    """The beginning of a string or of bytes as a Python literal, without unprintable characters."""
    head = value[:most]
    shown = repr(head if isinstance(head, str) else bytes(head))
    return shown if len(value) <= most else f"{shown}... ({len(value)} {unit})"


def counted(number: int, unit: str) -> str:
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"


def time_text(value: int) -> str:
    """A time with its date. A special value (-1 for none, -2 for the earliest offset) is a
    number."""
    return f"{value} ({date(value)})" if 0 < value < _YEAR_10000 else str(value)


def date(value: int) -> str:
    """The date in UTC, to the ms; the number when it is no date."""
    if not 0 < value < _YEAR_10000:
        return str(value)
    year, month, day = _civil(value // _DAY)
    seconds, ms = divmod(value % _DAY, 1000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z"


def _civil(days: int) -> tuple[int, int, int]:
    """The date `days` after 1970-01-01. Years begin in March here, so that a leap day is the last
    day of its year."""
    era, day = divmod(days + 719_468, 146_097)
    year = (day - day // 1460 + day // 36_524 - day // 146_096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    return era * 400 + year + (month > 9), (month + 2) % 12 + 1, day - (153 * month + 2) // 5 + 1


def api_name(key: int) -> str:
    try:
        return registry.api(key).name
    except UnknownMessage:
        return "unknown"
