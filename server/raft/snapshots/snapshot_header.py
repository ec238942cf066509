"""The control records of a snapshot: the first batch and the last (KIP-630, KIP-853).

The header holds the append time of the last record that the snapshot contains; `kraft.version` and
the voters follow if the quorum can be reconfigured. Without them the configured voters apply.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kafkadouble.messages.generated.snapshot_footer_record import SnapshotFooterRecord
from kafkadouble.messages.generated.snapshot_header_record import SnapshotHeaderRecord
from kafkadouble.wire.batch import (
    KRAFT_VERSION,
    KRAFT_VOTERS,
    SNAPSHOT_FOOTER,
    SNAPSHOT_HEADER,
    Record,
    control_type,
)
from kafkadouble.wire.errors import InvalidRecord, UsageError

from .. import control_records
from ..control_records import Control
from ..voters import VoterSet


class SnapshotHeader(NamedTuple):
    """`timestamp` is the append time (ms) of the last record of the log that the snapshot contains;
    `voters` is None if none are named.
    """

    timestamp: int
    kraft_version: int = 0
    voters: VoterSet | None = None


def controls_of(head: SnapshotHeader) -> list[Control]:
    """The records of the first batch. UsageError for voters at a `kraft.version` without them."""
    header = SNAPSHOT_HEADER, SnapshotHeaderRecord(last_contained_log_timestamp=head.timestamp).encode(version=0)
    if not head.kraft_version:
        if head.voters is not None:
            raise UsageError(f"{head.voters!r} cannot be written at kraft.version 0")
        return [header]
    voters = [] if head.voters is None else [control_records.voters(head.voters)]
    return [header, control_records.kraft_version(head.kraft_version), *voters]


def footer() -> Control:
    """The record of the last batch."""
    return SNAPSHOT_FOOTER, SnapshotFooterRecord().encode(version=0)


def head_of(records: Sequence[Record]) -> SnapshotHeader:
    """Decodes the first batch. WireError if it is no header; unknown record types are ignored."""
    found = SnapshotHeader(SnapshotHeaderRecord.decode(value_of(records[0]), 0).last_contained_log_timestamp)
    for record in records[1:]:
        kind = control_type(record)[1]
        if kind == KRAFT_VERSION:
            found = found._replace(kraft_version=control_records.kraft_version_in(value_of(record)))
        elif kind == KRAFT_VOTERS:
            found = found._replace(voters=control_records.voters_in(value_of(record)))
    return found


def value_of(record: Record) -> bytes:
    """InvalidRecord without a value."""
    if not record.value:
        raise InvalidRecord(f"{record!r} has no value")
    return record.value
