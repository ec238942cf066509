"""Reads the time of a log line, from its prefix or from a field, as microseconds since the
epoch."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, NamedTuple

STAMP = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?")
FIELDS = ("@timestamp", "timestamp", "time")
"""The names of the field in JSON logs."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Stamp(NamedTuple):
    """`is_fine`: it is more precise than seconds."""

    micros: int
    is_fine: bool


def stamp_of(text: str, fields: dict[str, Any], zone: tzinfo) -> Stamp | None:
    """The time, in `zone` when it has no time zone; None when there is none."""
    source = next((str(fields[name]) for name in FIELDS if name in fields), text)
    found = STAMP.search(source)
    if found is None:
        return None
    day, clock, fraction, offset = found.groups()
    try:
        at = datetime.fromisoformat(f"{day}T{clock}{offset or ''}")
    except ValueError:
        return None
    whole = (at if at.tzinfo else at.replace(tzinfo=zone)) - _EPOCH
    micros = whole // timedelta(microseconds=1) + int((fraction or "0")[:6].ljust(6, "0"))
    return Stamp(micros, fraction is not None)
