"""A record as a log has it, and how to read the records of a log."""

from __future__ import annotations

from typing import NamedTuple

from kafkadouble.wire.batch import iter_batches, records_of
from kafkadouble.wire.checksum import Buffer


class Kept(NamedTuple):
    """The value is a number that no other record has; `producer` and `sequence` are -1 for a
    producer that is not idempotent."""

    offset: int
    epoch: int
    value: int
    producer: int
    sequence: int


def kept_in(records: Buffer) -> list[Kept]:
    """The records of these batches."""
    found = []
    for position, header in iter_batches(records):
        for at, record in enumerate(records_of(records, position, header)):
            sequence = header.base_sequence + at if header.producer_id >= 0 else -1
            value = int(record.value or b"-1")
            found.append(Kept(record.offset, header.partition_leader_epoch, value, header.producer_id, sequence))
    return found
