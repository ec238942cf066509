"""Leader: what it knows of the voters and observers that fetch from it, and what follows: the high watermark, and its own right to lead.

An entry counts as committed once a majority of voters has it *and* an entry of this epoch is among them (KIP-595): older ones alone could still
be replaced. The leader counts itself only as far as its own log would outlive the machine. A leader that a majority does not fetch from is
none, and resigns (check-quorum). This file sends nothing and knows no log: the owner tells where the logs end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from .replica_key import ReplicaKey
from .voters import Voter, VoterEndpoint, VoterSet

if TYPE_CHECKING:
    from .pending_voter_change import PendingVoterChange

OBSERVER_SESSION_MS = 300_000
"""An observer that was not heard of for so long is forgotten."""

MAX_OBSERVERS = 1000
"""Of those beyond, the one heard of longest ago is forgotten: whoever can connect can name himself what he likes."""


class ReplicaState:
    """How far a replica has come, as the leader last saw it."""

    __slots__ = ("_end_at_last_fetch", "acknowledged", "end_offset", "key", "last_caught_up", "last_fetch")

    def __init__(self, key: ReplicaKey) -> None:
        self.key = key
        self.end_offset = self.last_fetch = self.last_caught_up = -1  # -1: never fetched in this epoch
        self._end_at_last_fetch = -1  # the leader's end when this replica fetched last
        self.acknowledged = False  # it knows who leads: no more BeginQuorumEpoch

    def fetched(self, offset: int, leader_end: int, now: int) -> None:
        """Its log reaches up to `offset`. It was caught up now if it has all that we have, or at its last fetch if it has all that we had."""
        if offset >= leader_end:
            self.last_caught_up = now
        elif 0 <= self._end_at_last_fetch <= offset:
            self.last_caught_up = max(self.last_caught_up, self.last_fetch)
        self.last_fetch, self._end_at_last_fetch = now, leader_end
        self.end_offset = offset  # it may fall: of a voter that lost its log, or when a fetch was overtaken by another
        self.acknowledged = True


class LeaderState:
    """`epoch_start` is where its first record stands, the LeaderChange."""

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
        "resigning",
        "told",
        "voters",
    )

    voted: ClassVar[None] = None  # for itself; that it leads says more

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
        self.check_at = check_at  # a majority has not fetched until then: resign
        self.voters: dict[int, ReplicaState] = {}
        self.observers: dict[ReplicaKey, ReplicaState] = {}
        self.high_watermark: int | None = None  # None until an entry of this epoch is committed; never falls
        self.begin_at = begin_at  # when BeginQuorumEpoch goes out again
        self.flush_at: int | None = None  # when what was appended is flushed and counted
        self.fetched_since_check: set[int] = set()
        self.change: PendingVoterChange | None = None  # of the voters; one at a time
        self.told: dict[int, Voter] = {}  # what voters say of themselves under kraft.version 0
        self.is_announced = False  # the listener knows that it leads
        self.resigning = False

    @property
    def leader_id(self) -> int:
        return self.key.id

    def would_grant(self, candidate: ReplicaKey, up_to_date: bool, pre_vote: bool) -> bool:
        return False

    def set_voters(self, voters: VoterSet) -> None:
        """Who counts from now on. One that was an observer brings its progress with it, and the other way round."""
        before, self.voters = self.voters, {}
        for voter in voters:
            known = before.pop(voter.id, None)
            if known is None or not _is_same(known.key, voter.key):
                known = self.observers.pop(voter.key, None)
            self.voters[voter.id] = known or ReplicaState(voter.key)
            self.voters[voter.id].key = voter.key
        for gone in before.values():
            self.observers[gone.key] = gone
        self.fetched_since_check &= self.voters.keys()

    def fetched(self, key: ReplicaKey, offset: int, leader_end: int, now: int) -> bool:
        """A replica fetches from `offset` on; tells whether it is a voter."""
        progress = self.progress_of(key)
        if progress is None:
            progress = self.observers.setdefault(key, ReplicaState(key))
        progress.fetched(offset, leader_end, now)
        self.forget_observers(now)
        return key.id in self.voters and self.voters[key.id] is progress

    def progress_of(self, key: ReplicaKey) -> ReplicaState | None:
        """Of a voter or an observer, by its very key."""
        voter = self.voters.get(key.id)
        return voter if voter is not None and _is_same(voter.key, key) else self.observers.get(key)

    def heard_of(self, key: ReplicaKey, now: int, timeout: int) -> None:
        """A voter fetches: with a majority of them, counted anew each time, the leader may go on."""
        voter = self.voters.get(key.id)
        if voter is None or not _is_same(voter.key, key):
            return
        self.fetched_since_check.add(key.id)
        needed = len(self.voters) // 2 + 1 - (self.key.id in self.voters)
        if len(self.fetched_since_check) >= needed:
            self.fetched_since_check.clear()
            self.check_at = now + timeout

    def advance(self) -> bool:
        """Move the high watermark as far as a majority has come; tells whether it moved."""
        ends = sorted((voter.end_offset for voter in self.voters.values()), reverse=True)
        if not ends:
            return False
        offset = ends[len(ends) // 2]
        if offset <= self.epoch_start or (self.high_watermark is not None and offset <= self.high_watermark):
            return False
        self.high_watermark = offset
        return True

    def successors(self) -> list[ReplicaKey]:
        """The other voters, the one with the longest log first."""
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
    """Where voters have no directories, the id says it all."""
    return voter.id == key.id and (not any(voter.directory_id) or voter.directory_id == key.directory_id)
