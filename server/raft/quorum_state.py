"""What a replica may never forget: the epoch that it is in, the leader that it knows there, and whom it gave its vote (KIP-595, KIP-853).

A vote that is forgotten can be given twice, so every change stands on disk before anybody hears of it. A vote that is only asked about
(KIP-996) is no change. Stores are siblings: memory here, files in `quorum_state_file`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kafkadouble.wire.errors import UsageError

from .replica_key import ReplicaKey

LAST_EPOCH = 2**31 - 2
"""Nobody is believed to be in a later one: nobody could ever be elected after it."""


class ElectionState:
    """`leader_id` and `voted` are None while there is none. Both may be there: who voted for a candidate may learn of the leader later.
    It never changes."""

    __slots__ = ("epoch", "leader_id", "voted")

    def __init__(self, epoch: int = 0, leader_id: int | None = None, voted: ReplicaKey | None = None) -> None:
        if epoch < 0:
            raise UsageError(f"there is no epoch {epoch}")
        self.epoch, self.leader_id, self.voted = epoch, leader_id, voted

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ElectionState):
            return NotImplemented
        return (self.epoch, self.leader_id, self.voted) == (other.epoch, other.leader_id, other.voted)

    def __hash__(self) -> int:
        return hash((self.epoch, self.leader_id, self.voted))

    def __repr__(self) -> str:
        leader = "no known leader" if self.leader_id is None else f"leader {self.leader_id}"
        return f"epoch {self.epoch}, {leader}, " + (
            "no vote given" if self.voted is None else f"voted for {self.voted!r}"
        )


class QuorumStateStore(Protocol):
    """Where the election state is kept."""

    def load(self) -> ElectionState:
        """What was saved last; epoch 0 and nothing more for a new replica."""
        ...

    def save(self, state: ElectionState, voter_ids: Sequence[int], kraft_version: int) -> None:
        """Keep this, so that it outlives the machine when the call returns. The voters are those of `kraft.version` 0's format."""
        ...


class MemoryQuorumStateStore:
    """Outlives a replica that is made anew with it, and no process."""

    def __init__(self, state: ElectionState | None = None) -> None:
        self._state = state or ElectionState()
        self.saves = 0  # how often something was written

    def load(self) -> ElectionState:
        return self._state

    def save(self, state: ElectionState, voter_ids: Sequence[int], kraft_version: int) -> None:
        self._state = state if kraft_version else without_directory(state)
        self.saves += 1

    def __repr__(self) -> str:
        return f"in memory: {self._state!r}"


def without_directory(state: ElectionState) -> ElectionState:
    """As version 0 of the file keeps it."""
    return state if state.voted is None else ElectionState(state.epoch, state.leader_id, ReplicaKey(state.voted.id))
