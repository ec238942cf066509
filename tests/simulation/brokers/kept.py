"""A record as a log has it, and how to read the records of a log."""

from __future__ import annotations

from typing import NamedTuple
from zlib import crc32

from kafkadouble.wire.batch import COMMIT, control_type, iter_batches, records_of
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.record import Record

COMMITTED, ABORTED = "commit", "abort"
"""The kinds of transaction markers."""

NO_VALUE = -1


class Kept(NamedTuple):
    """The value is a number that no other record of a client has; `producer` and `sequence` are -1
    for a producer that is not idempotent. A transaction marker has its kind in `marker`, and no
    value."""

    offset: int
    epoch: int
    value: int
    producer: int
    sequence: int
    producer_epoch: int = -1
    transactional: bool = False
    marker: str = ""


def kept_in(records: Buffer) -> list[Kept]:
    """The records of these batches."""
    found = []
    for position, header in iter_batches(records):
        producer, of_producer = header.producer_id, (header.producer_epoch, header.is_transactional)
        for at, record in enumerate(records_of(records, position, header)):
            sequence = header.base_sequence + at if producer >= 0 else -1
            value = NO_VALUE if header.is_control else _value(record)
            marker = _kind(record) if header.is_control else ""
            kept = Kept(record.offset, header.partition_leader_epoch, value, producer, sequence, *of_producer, marker)
            found.append(kept)
    return found


def _value(record: Record) -> int:
    """The number that a client wrote; of a coordinator's record a checksum."""
    value = bytes(record.value or b"").rstrip()
    return int(value) if value.isdigit() else crc32(bytes(record.key or b"") + value)


def _kind(record: Record) -> str:
    return COMMITTED if control_type(record)[1] == COMMIT else ABORTED
