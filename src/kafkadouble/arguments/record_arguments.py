"""The filters of records, as rows of the table of arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kafkadouble.common.kinds import is_given_as

INT64 = 2**63


def _offset(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < INT64


def _is_read(value: Any) -> bool:
    return is_given_as("record", value)


def _since(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(_offset(each) for pair in value.items() for each in pair)
    return _offset(value) or _is_read(value) or (isinstance(value, list | tuple) and all(map(_is_read, value)))


def _header(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(name, str) for name in value) and all(
            each is None or isinstance(each, str | bytes) for each in value.values()
        )
    return isinstance(value, str)


OFFSET = (_offset, "an offset from 0", {"type": "integer", "minimum": 0})
SINCE = (
    _since,
    "an offset from 0, records that were read, or offsets by partition",
    {"type": ["integer", "object", "array"]},
)

RECORD_ARGUMENTS: dict[str, tuple[Callable[[Any], bool], str, dict[str, Any] | None]] = {
    "records.offset": OFFSET,
    "wait_for_records.offset": OFFSET,
    "records.since": SINCE,
    "wait_for_records.since": SINCE,
    "header": (
        _header,
        "the name of a header, or headers with their values",
        {"anyOf": [{"type": "string"}, {"type": "object"}]},
    ),
}
