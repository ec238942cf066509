"""The persistent election state of a replica: its epoch, the leader of that epoch, and its vote
(KIP-595, KIP-853).

A forgotten vote could be given twice, so every change is persisted before it is visible to other
nodes. Pre-votes (KIP-996) change nothing. There is a store in memory here, and one in a file in
`quorum_state_file`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kafkadouble.wire.errors import UsageError

from .replica_key import ReplicaKey

LAST_EPOCH = 2**31 - 2
"""Later epochs are not accepted: after the last one there could be no election."""


class ElectionState:
    """`leader_id` and `voted` are None while there is none. Both may be set: a voter may learn of
    the leader after its vote. Immutable.
    """

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
    """Persists the election state."""

    def load(self) -> ElectionState:
        """The state that was saved last; epoch 0 without a leader for a new replica."""
        ...

    def save(self, state: ElectionState, voter_ids: Sequence[int], kraft_version: int) -> None:
        """Persists the state before it returns. The voters are part of the file in `kraft.version`
        0.
        """
        ...


class MemoryQuorumStateStore:
    """Survives the replica, and not the process."""

    def __init__(self, state: ElectionState | None = None) -> None:
        self._state = state or ElectionState()
        self.saves = 0  # the number of writes

    def load(self) -> ElectionState:
        return self._state

    def save(self, state: ElectionState, voter_ids: Sequence[int], kraft_version: int) -> None:
        self._state = state if kraft_version else without_directory(state)
        self.saves += 1

    def __repr__(self) -> str:
        return f"in memory: {self._state!r}"


def without_directory(state: ElectionState) -> ElectionState:
    """The state as version 0 of the file keeps it."""
    return state if state.voted is None else ElectionState(state.epoch, state.leader_id, ReplicaKey(state.voted.id))
