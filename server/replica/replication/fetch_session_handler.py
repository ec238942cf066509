"""A follower's side of its fetch session with one leader (KIP-227; Kafka: `FetchSessionHandler`).

A request names only new and changed partitions, and those to forget. The leader may refuse a
session or evict it; then the next request is a full one. The epoch grows by one with each response,
and restarts at 0 after a request without a response.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse

from .fetch_validation import NO_SESSION, PartitionKey, response_problem

FetchPartition = FetchRequest.FetchPartition

INITIAL_EPOCH, NO_EPOCH = 0, -1
MAX_EPOCH = 2**31 - 1


class FetchRequestData(NamedTuple):
    """The session, the partitions and the forgotten partitions of the next request."""

    session_id: int
    epoch: int
    named: Mapping[PartitionKey, FetchPartition]
    forgotten: list[PartitionKey]


class FetchSessionHandler:
    """The session of one follower with one leader."""

    def __init__(self) -> None:
        self._id, self._epoch = NO_SESSION, INITIAL_EPOCH
        # What the leader remembers.
        self._cached: dict[PartitionKey, tuple[int, int, int, int]] = {}
        self._sent: dict[PartitionKey, tuple[int, int, int, int]] = {}

    def build(self, partitions: Mapping[PartitionKey, FetchPartition]) -> FetchRequestData:
        """Returns the data of a request that fetches these partitions."""
        self._sent = {key: _position(each) for key, each in partitions.items()}
        if self._epoch == INITIAL_EPOCH:
            return FetchRequestData(self._id, INITIAL_EPOCH, partitions, [])
        named = {key: each for key, each in partitions.items() if self._cached.get(key) != self._sent[key]}
        forgotten = [key for key in self._cached if key not in partitions]
        return FetchRequestData(self._id, self._epoch, named, forgotten)

    def build_next(
        self, changed: Mapping[PartitionKey, FetchPartition], removed: Iterable[PartitionKey]
    ) -> FetchRequestData:
        """Returns the data of a request that fetches the same partitions as the last one.

        Exceptions are those that changed or were removed. The session must be current.
        """
        named = {key: each for key, each in changed.items() if self._cached.get(key) != _position(each)}
        self._cached.update((key, _position(each)) for key, each in named.items())
        forgotten = [key for key in removed if self._cached.pop(key, None) is not None]
        return FetchRequestData(self._id, self._epoch, named, forgotten)

    def problem_of(self, response: FetchResponse) -> str | None:
        """Returns why this cannot be the response to the last request; None if it can."""
        return response_problem(response, self._sent, self._id, full=not self.is_open)

    def on_response(self, session_id: int) -> None:
        """Goes to the next epoch of the session that the leader named."""
        if session_id == NO_SESSION:
            self.reset()
            self._id = NO_SESSION
            return
        self._id, self._cached = session_id, self._sent
        self._epoch = 1 if self._epoch == MAX_EPOCH else self._epoch + 1

    @property
    def is_open(self) -> bool:
        """Returns whether the leader should have a session."""
        return self._epoch != INITIAL_EPOCH

    @property
    def is_current(self) -> bool:
        """Returns whether the leader should remember the partitions of the last request."""
        return self.is_open and self._sent is self._cached

    def reset(self) -> None:
        """Sends a full request next, which also closes the leader's session."""
        self._epoch = INITIAL_EPOCH
        self._cached = {}

    def __repr__(self) -> str:
        return f"fetch session {self._id}, epoch {self._epoch}, {len(self._cached)} partitions"


def _position(partition: FetchPartition) -> tuple[int, int, int, int]:
    return (
        partition.fetch_offset,
        partition.current_leader_epoch,
        partition.last_fetched_epoch,
        partition.log_start_offset,
    )
