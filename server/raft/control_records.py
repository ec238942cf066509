"""The control records of the quorum: reads voters and `kraft.version` from batches, and writes the
first batch of an epoch.

A follower reads them before it appends, so that unreadable bytes change nothing (KIP-595, KIP-853).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kafkadouble.messages.generated.leader_change_message import LeaderChangeMessage
from kafkadouble.wire.batch import (
    KRAFT_VERSION,
    KRAFT_VOTERS,
    LEADER_CHANGE,
    BatchHeader,
    control_type,
    iter_batches,
    records_of,
)
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.errors import InvalidRecord

from .replica_key import ReplicaKey
from .voters import VoterSet

NEWEST_KRAFT_VERSION = 1
LEADER_CHANGE_VERSION = 0


class VoterControlRecord(NamedTuple):
    """A control record at `offset`: the voters or the `kraft.version` from then on."""

    offset: int
    voters: VoterSet | None = None
    kraft_version: int | None = None


Control = tuple[int, bytes]
"""A control record to write: its type and its value."""


def read_control_records(batches: Buffer) -> list[VoterControlRecord]:
    """The voter control records of whole batches. WireError if one cannot be read."""
    return [parsed for position, header in iter_batches(batches) for parsed in _of_batch(batches, position, header)]


def _of_batch(batches: Buffer, position: int, header: BatchHeader) -> Iterator[VoterControlRecord]:
    if not header.is_control:
        return
    for record in records_of(batches, position, header):
        parsed = read_control_record(record.offset, control_type(record)[1], record.value)
        if parsed is not None:
            yield parsed


def read_control_record(offset: int, kind: int, value: bytes | None) -> VoterControlRecord | None:
    """One control record; None for other types. WireError."""
    if kind not in (KRAFT_VERSION, KRAFT_VOTERS):
        return None
    if value is None:
        raise InvalidRecord(f"a control record of type {kind} without a value")
    if kind == KRAFT_VERSION:
        return VoterControlRecord(offset, kraft_version=kraft_version_in(value))
    return VoterControlRecord(offset, voters=voters_in(value))


def voters_in(value: bytes) -> VoterSet:
    """The voters that a record names. WireError, also for an empty set, which no later record could
    change.
    """
    from kafkadouble.messages.generated.voters_record import VotersRecord  # static voters have none

    found = VoterSet.from_record(VotersRecord.decode(value, 0))
    if not found:
        raise InvalidRecord("a set of voters without a voter")
    return found


def kraft_version_in(value: bytes) -> int:
    """The `kraft.version` that a record names. WireError, also for one that is not known."""
    from kafkadouble.messages.generated.kraft_version_record import KRaftVersionRecord

    version = KRaftVersionRecord.decode(value, 0).kraft_version
    if not 0 <= version <= NEWEST_KRAFT_VERSION:
        raise InvalidRecord(f"kraft.version {version}, where {NEWEST_KRAFT_VERSION} is the newest known")
    return version


def leader_change(leader: ReplicaKey, voters: VoterSet, granting: Sequence[ReplicaKey]) -> Control:
    """The new leader, and the voters that elected it; without directory ids, as Kafka writes it."""
    of = LeaderChangeMessage
    message = of(
        version=LEADER_CHANGE_VERSION,
        leader_id=leader.id,
        voters=[of.Voter(voter_id=id) for id in voters.ids],
        granting_voters=[of.Voter(voter_id=key.id) for key in granting],
    )
    return LEADER_CHANGE, message.encode(LEADER_CHANGE_VERSION)


def kraft_version(version: int) -> Control:
    from kafkadouble.messages.generated.kraft_version_record import KRaftVersionRecord

    return KRAFT_VERSION, KRaftVersionRecord(version=0, kraft_version=version).encode(0)


def voters(voters: VoterSet) -> Control:
    return KRAFT_VOTERS, voters.to_record().encode(0)
