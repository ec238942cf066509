"""The APIs that are served on the listeners of brokers and on those of controllers, by key.

The versions are those of the message specs, less what Kafka itself holds back as unstable.
"""

from __future__ import annotations

from .row import ApiRow, ServedApi
from .rows import TEXT, read_rows

ROWS: tuple[ApiRow, ...] = tuple(read_rows(TEXT))

ROW_OF: dict[str, ApiRow] = {row.name: row for row in ROWS}
"""By the name of the API."""


def _at(listener: str) -> tuple[ServedApi, ...]:
    return tuple(ServedApi(row, listener) for row in ROWS if listener in row.listeners)


TABLE, CONTROLLER_TABLE = _at("broker"), _at("controller")
"""The APIs that ApiVersions lists, in the order of the keys."""

SERVED = {served.api.key: served for served in TABLE}
CONTROLLER_SERVED = {served.api.key: served for served in CONTROLLER_TABLE}

FORWARDED = frozenset(row.api.key for row in ROWS if row.forwarded)
"""The APIs that a broker forwards to the active controller in an Envelope (KIP-590)."""
