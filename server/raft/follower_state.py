"""Follower: a replica that fetches from the leader of its epoch; a voter among them counts, an observer only reads (KIP-595)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..log.offset_and_epoch import OffsetAndEpoch
from .replica_key import ReplicaKey
from .voters import VoterEndpoint


@dataclass(slots=True, eq=False)
class FollowerState:
    """`leader_endpoints` are never empty: a leader that cannot be reached is not followed."""

    epoch: int
    leader_id: int
    leader_endpoints: Mapping[str, VoterEndpoint]
    fetch_timeout: int  # ms without a successful fetch until a voter asks for another leader
    deadline: int  # when that is over
    update_at: int  # when a voter next compares what the log says of it with what it is (KIP-853)
    voted: ReplicaKey | None = None
    has_fetched: bool = False  # from this leader, with success: then he is there, and nobody else is voted for
    is_left: bool = False  # by its leader, who said so: no answer of his that was still on its way takes that back
    has_updated: bool = False  # the leader knows what we are; no need to tell him again
    fetching_snapshot: OffsetAndEpoch | None = None  # while it is, the log is not fetched

    def fetched(self, now: int) -> None:
        """The leader has answered well."""
        if self.is_left:
            return
        self.has_fetched = True
        self.deadline = now + self.fetch_timeout

    def left(self, deadline: int) -> None:
        """The leader is gone by his own word: whoever asks for a pre-vote may have it, and from the deadline on we ask ourselves."""
        self.is_left, self.has_fetched, self.deadline = True, False, deadline

    def would_grant(self, candidate: ReplicaKey, up_to_date: bool, pre_vote: bool) -> bool:
        """There is a leader. Only one that has never been reached may be asked about."""
        return pre_vote and up_to_date and not self.has_fetched

    def __repr__(self) -> str:
        return f"Follower of {self.leader_id} in epoch {self.epoch}"
