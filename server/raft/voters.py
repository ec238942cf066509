"""The voters of the quorum, with their endpoints and `kraft.version` levels (KIP-853).

A VoterSet never changes: a change creates another one. Consecutive sets differ in at most one
voter, so that their majorities overlap. This file knows nothing of leaders, logs or time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.errors import UsageError

from .replica_key import ReplicaKey

if TYPE_CHECKING:
    from kafkadouble.messages.generated.voters_record import VotersRecord

VOTERS_RECORD_VERSION = 0


class VoterEndpoint(NamedTuple):
    """The address of a listener."""

    host: str
    port: int


class Voter(NamedTuple):
    """One voter. `endpoints` are by listener name, in the voter's own order; `kraft_versions` is
    (lowest, highest).
    """

    key: ReplicaKey
    endpoints: Mapping[str, VoterEndpoint]
    kraft_versions: tuple[int, int] = (0, 1)

    @property
    def id(self) -> int:
        return self.key.id


class VoterSet:
    """The voters by id."""

    __slots__ = ("_voters",)

    def __init__(self, voters: Iterable[Voter] = ()) -> None:
        self._voters = {voter.key.id: voter for voter in voters}

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(self._voters)

    @property
    def majority(self) -> int:
        """The least number of voters that is more than half."""
        return len(self._voters) // 2 + 1

    def get(self, id: int) -> Voter | None:
        return self._voters.get(id)

    def contains(self, key: ReplicaKey) -> bool:
        """Whether this replica votes. A voter without a directory id (`kraft.version` 0) is any
        replica with its id; a replica without one is not a voter that has one.
        """
        voter = self._voters.get(key.id)
        return voter is not None and voter.key.directory_id in (Uuid.ZERO, key.directory_id)

    def is_only(self, key: ReplicaKey) -> bool:
        return len(self._voters) == 1 and self.contains(key)

    def endpoint(self, id: int, listener: str) -> VoterEndpoint | None:
        voter = self._voters.get(id)
        return None if voter is None else voter.endpoints.get(listener)

    def endpoints_of(self, id: int) -> Mapping[str, VoterEndpoint]:
        """By listener name; empty for other nodes."""
        voter = self._voters.get(id)
        return {} if voter is None else voter.endpoints

    def with_(self, voter: Voter) -> VoterSet | None:
        """With one more voter; None if its id is in use."""
        return None if voter.id in self._voters else VoterSet([*self, voter])

    def without(self, key: ReplicaKey) -> VoterSet | None:
        """Without this voter; None if there is no such voter, or no other."""
        voter = self._voters.get(key.id)
        if voter is None or voter.key != key or len(self._voters) == 1:
            return None
        return VoterSet(each for each in self if each is not voter)

    def updated(self, voter: Voter) -> VoterSet | None:
        """With new data of a voter; None if there is no voter with its key."""
        old = self._voters.get(voter.id)
        if old is None or old.key != voter.key:
            return None
        return VoterSet(voter if each is old else each for each in self)

    def overlaps(self, other: VoterSet) -> bool:
        """Whether every majority of one overlaps every majority of the other: they differ in at
        most one voter.
        """
        ours, theirs = ({voter.key for voter in each} for each in (self, other))
        return len(ours - theirs) <= 1 and len(theirs - ours) <= 1 and len(ours ^ theirs) <= 1

    def to_record(self) -> VotersRecord:
        """The value of a KRAFT_VOTERS control record."""
        # static voters have none
        from kafkadouble.messages.generated.voters_record import VotersRecord

        return VotersRecord(version=VOTERS_RECORD_VERSION, voters=[_to_record(VotersRecord, voter) for voter in self])

    @classmethod
    def from_record(cls, record: VotersRecord) -> VoterSet:
        return cls(_from_record(voter) for voter in record.voters)

    @classmethod
    def from_static(cls, text: str, listener: str = "CONTROLLER") -> VoterSet:
        """Parses `controller.quorum.voters`: `1@host:port,2@host:port`. UsageError if it is
        invalid.
        """
        return cls(_static(part.strip(), listener) for part in text.split(",") if part.strip())

    def __iter__(self) -> Iterator[Voter]:
        return iter(self._voters.values())

    def __len__(self) -> int:
        return len(self._voters)

    def __contains__(self, id: object) -> bool:
        return id in self._voters

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VoterSet) and self._voters == other._voters

    __hash__ = None  # type: ignore[assignment]  # compared by mappings, which have no hash

    def __repr__(self) -> str:
        return f"voters {', '.join(repr(voter.key).removeprefix('replica ') for voter in self) or '(none)'}"


def _to_record(of: type[VotersRecord], voter: Voter) -> VotersRecord.Voter:
    low, high = voter.kraft_versions
    return of.Voter(
        voter_id=voter.id,
        voter_directory_id=voter.key.directory_id,
        endpoints=[of.Endpoint(name=name, host=at.host, port=at.port) for name, at in voter.endpoints.items()],
        kraft_version_feature=of.KRaftVersionFeature(min_supported_version=low, max_supported_version=high),
    )


def _from_record(voter: VotersRecord.Voter) -> Voter:
    feature = voter.kraft_version_feature
    endpoints = {endpoint.name: VoterEndpoint(endpoint.host, endpoint.port) for endpoint in voter.endpoints}
    key = ReplicaKey(voter.voter_id, voter.voter_directory_id)
    return Voter(key, endpoints, (feature.min_supported_version, feature.max_supported_version))


def _static(part: str, listener: str) -> Voter:
    id, found, address = part.partition("@")
    host, colon, port = address.rpartition(":")
    if not (found and colon and host and id.isascii() and id.isdigit() and port.isascii() and port.isdigit()):
        raise UsageError(f"{part!r} is not a voter: id@host:port is")
    if int(port) > 65535:
        raise UsageError(f"{part!r} has no port up to 65535")
    host = host.removeprefix("[").removesuffix("]")
    return Voter(ReplicaKey(int(id)), {listener: VoterEndpoint(host, int(port))}, (0, 0))
