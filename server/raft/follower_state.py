"""Follower: a replica that fetches from the leader of its epoch; a voter, or an observer that only
reads (KIP-595).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..log.offset_and_epoch import OffsetAndEpoch
from .replica_key import ReplicaKey
from .voters import VoterEndpoint


@dataclass(slots=True, eq=False)
class FollowerState:
    """`leader_endpoints` is never empty: a leader that cannot be reached is not followed."""

    epoch: int
    leader_id: int
    leader_endpoints: Mapping[str, VoterEndpoint]
    fetch_timeout: int  # ms without a successful fetch before a voter starts an election
    deadline: int  # when that time is over
    update_at: int  # when a voter next compares the log's entry for it with its own state (KIP-853)
    voted: ReplicaKey | None = None
    # after a successful fetch from this leader no other replica gets a vote
    has_fetched: bool = False
    is_left: bool = False  # after EndQuorumEpoch; later responses of that leader do not change it
    has_updated: bool = False  # the leader has this voter's state
    # set while a snapshot is fetched instead of the log
    fetching_snapshot: OffsetAndEpoch | None = None

    def fetched(self, now: int) -> None:
        """The leader answered a fetch without an error."""
        if self.is_left:
            return
        self.has_fetched = True
        self.deadline = now + self.fetch_timeout

    def left(self, deadline: int) -> None:
        """The leader resigned: pre-votes may be granted, and from the deadline on this voter starts
        an election.
        """
        self.is_left, self.has_fetched, self.deadline = True, False, deadline

    def would_grant(self, candidate: ReplicaKey, up_to_date: bool, pre_vote: bool) -> bool:
        """Pre-votes only, and only if the leader has never been reached."""
        return pre_vote and up_to_date and not self.has_fetched

    def __repr__(self) -> str:
        return f"Follower of {self.leader_id} in epoch {self.epoch}"
