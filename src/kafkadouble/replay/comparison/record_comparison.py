"""Compares the records of two Fetch answers by their offsets.

Rules. A batch may be cut or compressed in another way, and an answer may end later than the
recorded one, when another client writes meanwhile: a record that only the found answer has is no
difference. Offsets, keys, values, headers and timestamps are compared, and control records by their
type. Timestamps that the server sets (LogAppendTime) may differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from kafkadouble.wire.batch import control_type, iter_batches, records_of
from kafkadouble.wire.errors import WireError
from kafkadouble.wire.record import Record

Difference = TypeVar("Difference")

CONTROL, APPEND_TIME = 0x20, 0x08
"""Bits of the attributes of a batch."""


def compare_records(
    recorded: Any, found: Any, path: str, difference: Callable[[str, str, str], Difference]
) -> Iterator[Difference]:
    """The differences: one for each record that differs, or one for bytes that are no batches."""
    ours, theirs = _by_offset(recorded), _by_offset(found)
    if isinstance(ours, str) or isinstance(theirs, str):
        if bytes(recorded) != bytes(found):
            yield difference(path, _summary(ours), _summary(theirs))
        return
    for offset, shown in ours.items():
        if offset not in theirs:
            yield difference(path, shown[0], f"no record at offset {offset}")
        elif theirs[offset][1:] != shown[1:]:
            yield difference(path, shown[0], theirs[offset][0])


def count_records(records: Any) -> int | None:
    """The number of records in batches, None if they cannot be read."""
    found = _by_offset(records or b"")
    return None if isinstance(found, str) else len(found)


def _by_offset(buffer: Any) -> dict[int, tuple[Any, ...]] | str:
    """The compared values of each record, with its text first; a text if the bytes cannot be
    read."""
    made: dict[int, tuple[Any, ...]] = {}
    try:
        for position, header in iter_batches(buffer, partial=True):
            for record in records_of(buffer, position, header):
                made[record.offset] = _compared(record, header.attributes)
    except WireError as error:
        return str(error)
    return made


def _compared(record: Record, attributes: int) -> tuple[Any, ...]:
    if attributes & CONTROL:
        return repr(record), control_type(record)
    timestamp = None if attributes & APPEND_TIME else record.timestamp
    return repr(record), timestamp, record.key, record.value, record.headers


def _summary(found: dict[int, tuple[Any, ...]] | str) -> str:
    return f"bytes that cannot be read: {found}" if isinstance(found, str) else f"{len(found)} records"
