"""Leader: the progress of the voters and observers, and from it the high watermark and the right to
lead (KIP-595).

A record is committed once a majority of voters has it *and* a record of this epoch: older records
alone could still be replaced. The leader counts its own log only as far as it is flushed. A leader
that a majority does not fetch from resigns (check-quorum). This file sends nothing and knows no
log: the caller passes log end offsets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from .replica_key import ReplicaKey
from .voters import Voter, VoterEndpoint, VoterSet

if TYPE_CHECKING:
    from .pending_voter_change import PendingVoterChange

OBSERVER_SESSION_MS = 300_000
"""An observer without a fetch for this time (ms) is forgotten."""

MAX_OBSERVERS = 1000
"""Beyond this number the observer with the oldest fetch is forgotten: any client can connect under
any id.
"""


class ReplicaState:
    """The progress of a replica, as of its last fetch."""

    __slots__ = ("_end_at_last_fetch", "acknowledged", "end_offset", "key", "last_caught_up", "last_fetch")

    def __init__(self, key: ReplicaKey) -> None:
        self.key = key
        self.end_offset = self.last_fetch = self.last_caught_up = -1  # -1: no fetch in this epoch
        self._end_at_last_fetch = -1  # the leader's end at the last fetch
        self.acknowledged = False  # it knows the leader: no more BeginQuorumEpoch

    def fetched(self, offset: int, leader_end: int, now: int) -> None:
        """Its log ends at `offset`. It is caught up now if it has all of the leader's log, or was
        so at its last fetch if it has all that the leader had then.
        """
        if offset >= leader_end:
            self.last_caught_up = now
        elif 0 <= self._end_at_last_fetch <= offset:
            self.last_caught_up = max(self.last_caught_up, self.last_fetch)
        self.last_fetch, self._end_at_last_fetch = now, leader_end
        # it may fall: a voter lost its log, or fetches arrived out of order
        self.end_offset = offset
        self.acknowledged = True


class LeaderState:
    """`epoch_start` is the offset of its first record, the LeaderChange."""

    __slots__ = (
        "begin_at",
        "change",
        "check_at",
        "epoch",
        "epoch_start",
        "fetched_since_check",
        "flush_at",
        "high_watermark",
        "is_announced",
        "key",
        "leader_endpoints",
        "observers",
        "reported_voters",
        "resigning",
        "voters",
    )

    voted: ClassVar[None] = None  # for itself, which its leadership implies

    def __init__(
        self,
        key: ReplicaKey,
        epoch: int,
        epoch_start: int,
        leader_endpoints: Mapping[str, VoterEndpoint],
        check_at: int,
        begin_at: int = 0,
    ) -> None:
        self.key, self.epoch, self.epoch_start, self.leader_endpoints = key, epoch, epoch_start, leader_endpoints
        self.check_at = check_at  # resign unless a majority fetches before
        self.voters: dict[int, ReplicaState] = {}
        self.observers: dict[ReplicaKey, ReplicaState] = {}
        # None until a record of this epoch is committed; never falls
        self.high_watermark: int | None = None
        self.begin_at = begin_at  # when BeginQuorumEpoch is sent again
        self.flush_at: int | None = None  # when appended records are flushed and counted
        self.fetched_since_check: set[int] = set()
        self.change: PendingVoterChange | None = None  # at most one at a time
        # UpdateRaftVoter of each voter under kraft.version 0
        self.reported_voters: dict[int, Voter] = {}
        self.is_announced = False  # the listener was notified
        self.resigning = False

    @property
    def leader_id(self) -> int:
        return self.key.id

    def would_grant(self, candidate: ReplicaKey, up_to_date: bool, pre_vote: bool) -> bool:
        return False

    def set_voters(self, voters: VoterSet) -> None:
        """The voters that count from now on. Progress is kept when an observer becomes a voter, or
        a voter an observer.
        """
        before, self.voters = self.voters, {}
        for voter in voters:
            known = before.pop(voter.id, None)
            if known is None or not _is_same(known.key, voter.key):
                known = self.observers.pop(voter.key, None)
            self.voters[voter.id] = known or ReplicaState(voter.key)
            self.voters[voter.id].key = voter.key
        for removed in before.values():
            self.observers[removed.key] = removed
        self.fetched_since_check &= self.voters.keys()

    def fetched(self, key: ReplicaKey, offset: int, leader_end: int, now: int) -> bool:
        """A replica fetches from `offset` on; returns whether it is a voter."""
        progress = self.progress_of(key)
        if progress is None:
            progress = self.observers.setdefault(key, ReplicaState(key))
        progress.fetched(offset, leader_end, now)
        self.forget_observers(now)
        return key.id in self.voters and self.voters[key.id] is progress

    def progress_of(self, key: ReplicaKey) -> ReplicaState | None:
        """The progress of the voter or observer with exactly this key."""
        voter = self.voters.get(key.id)
        return voter if voter is not None and _is_same(voter.key, key) else self.observers.get(key)

    def on_voter_fetch(self, key: ReplicaKey, now: int, timeout: int) -> None:
        """A voter fetches. Once a majority has fetched, the check of the quorum starts again."""
        voter = self.voters.get(key.id)
        if voter is None or not _is_same(voter.key, key):
            return
        self.fetched_since_check.add(key.id)
        needed = len(self.voters) // 2 + 1 - (self.key.id in self.voters)
        if len(self.fetched_since_check) >= needed:
            self.fetched_since_check.clear()
            self.check_at = now + timeout

    def advance(self) -> bool:
        """Moves the high watermark to what a majority has; returns whether it moved."""
        ends = sorted((voter.end_offset for voter in self.voters.values()), reverse=True)
        if not ends:
            return False
        offset = ends[len(ends) // 2]
        if offset <= self.epoch_start or (self.high_watermark is not None and offset <= self.high_watermark):
            return False
        self.high_watermark = offset
        return True

    def successors(self) -> list[ReplicaKey]:
        """The other voters, longest log first."""
        others = [voter for voter in self.voters.values() if voter.key.id != self.key.id]
        return [voter.key for voter in sorted(others, key=lambda voter: -voter.end_offset)]

    def forget_observers(self, now: int) -> None:
        for key in [key for key, each in self.observers.items() if now - each.last_fetch >= OBSERVER_SESSION_MS]:
            del self.observers[key]
        while len(self.observers) > MAX_OBSERVERS:
            del self.observers[min(self.observers, key=lambda key: self.observers[key].last_fetch)]

    def __repr__(self) -> str:
        return f"Leader of epoch {self.epoch}"


def _is_same(voter: ReplicaKey, key: ReplicaKey) -> bool:
    """Voters without directory ids are identified by node id only."""
    return voter.id == key.id and (not any(voter.directory_id) or voter.directory_id == key.directory_id)
