"""How long each thing was as it was: rows that begin at one record of a log and end at another."""

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
"""What every row of a history has: the record that made it so, null where a snapshot only says that it was so by then; the record that made it
otherwise, null while it is so. Epochs are those of the log's leader."""

Row = dict[str, Any]


class Mark(NamedTuple):
    """A record of the log: its offset, the epoch of the log's leader, and when it was written (ms); of a snapshot nothing is known."""

    offset: int | None
    epoch: int | None
    timestamp: int | None


UNKNOWN = Mark(None, None, None)


def mark(entry: HistoryRecord) -> Mark:
    """The mark of this record."""
    return UNKNOWN if entry.snapshot else Mark(entry.offset, entry.leader_epoch, entry.timestamp)


class StateSpans:
    """What is so, by key, and since which record. Whatever ends is handed out at once; the rest is told at the end."""

    def __init__(self) -> None:
        self._open: dict[Hashable, tuple[Row, Mark]] = {}

    def put(self, key: Hashable, row: Row | None, mark: Mark) -> Iterator[Row]:
        """From this record on it is so; None: it is no more. What says the same again changes nothing."""
        before = self._open.get(key)
        if before is not None and before[0] == row:
            return
        if before is not None:
            del self._open[key]
            yield _row(*before, mark)
        if row is not None:
            self._open[key] = (row, mark)

    def left(self) -> Iterator[Row]:
        """What is so at the end of the log."""
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
