"""The periods of each state: rows that begin at one record of a log and end at another."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from .chain import HistoryRecord
from .level import TIME, time

FIELDS = {
    "valid_from_offset": pa.int64(),
    "valid_from_epoch": pa.int32(),
    "valid_from_time": TIME,
    "valid_to_offset": pa.int64(),
    "valid_to_epoch": pa.int32(),
    "valid_to_time": TIME,
    "current": pa.bool_(),
    "replica": pa.string(),
}
"""The columns of every history: the record that began the state, null when it comes from a
snapshot; and the record that ended it, null while it lasts. Epochs are leader epochs of the log."""

Row = dict[str, Any]


class Mark(NamedTuple):
    """A record of the log: its offset, leader epoch and timestamp (ms); all unknown for a
    snapshot."""

    offset: int | None
    epoch: int | None
    timestamp: int | None


UNKNOWN = Mark(None, None, None)


def mark(entry: HistoryRecord) -> Mark:
    """The mark of this record."""
    return UNKNOWN if entry.snapshot else Mark(entry.offset, entry.leader_epoch, entry.timestamp)


class StateSpans:
    """The present states by key, each with the record that began it. A state that ends is returned
    at once; the others at the end of the log."""

    def __init__(self) -> None:
        self._open: dict[Hashable, tuple[Row, Mark]] = {}

    def put(self, key: Hashable, row: Row | None, mark: Mark) -> Iterator[Row]:
        """Sets the state from this record on; None ends it. The same state again changes
        nothing."""
        before = self._open.get(key)
        if before is not None and before[0] == row:
            return
        if before is not None:
            del self._open[key]
            yield _row(*before, mark)
        if row is not None:
            self._open[key] = (row, mark)

    def left(self) -> Iterator[Row]:
        """The states at the end of the log."""
        for row, since in self._open.values():
            yield _row(row, since, None)


def _row(row: Row, since: Mark, until: Mark | None) -> Row:
    end = until or UNKNOWN
    return {
        **row,
        "valid_from_offset": since.offset,
        "valid_from_epoch": since.epoch,
        "valid_from_time": time(since.timestamp),
        "valid_to_offset": end.offset,
        "valid_to_epoch": end.epoch,
        "valid_to_time": time(end.timestamp),
        "current": until is None,
    }
