"""A persister for tests: it keeps states in memory, and fails or waits as a test says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.server.share.persister import (
    Done,
    PersisterStateBatch,
    ReadStateResult,
    ReadStateSummaryResult,
    SharePartitionKey,
)


class WrittenState(NamedTuple):
    """What one write was given."""

    key: SharePartitionKey
    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int
    batches: tuple[tuple[int, ...], ...]


class FakePersister:
    """`read_result` answers every read. `error` is the outcome of every write; while `waits` is
    set, calls are answered by `answer_one`."""

    def __init__(self) -> None:
        self.read_result = ReadStateResult(error_codes.NONE, None, 7, 0, ())
        self.error: tuple[int, str | None] = (error_codes.NONE, None)
        self.waits = False
        self.writes: list[WrittenState] = []
        self.reads: list[tuple[SharePartitionKey, int]] = []
        self._waiting: list[Callable[[], None]] = []

    def answer_one(self) -> None:
        """Answers the oldest call that waits."""
        self._waiting.pop(0)()

    def _answer(self, answer: Callable[[], None]) -> None:
        if self.waits:
            self._waiting.append(answer)
        else:
            answer()

    def read_state(self, key: SharePartitionKey, leader_epoch: int, then: Callable[[ReadStateResult], None]) -> None:
        self.reads.append((key, leader_epoch))
        self._answer(lambda: then(self.read_result))

    def write_state(
        self,
        key: SharePartitionKey,
        state_epoch: int,
        leader_epoch: int,
        start_offset: int,
        delivery_complete_count: int,
        batches: Sequence[PersisterStateBatch],
        then: Done,
    ) -> None:
        written = tuple(tuple(batch) for batch in batches)
        self.writes.append(WrittenState(key, state_epoch, leader_epoch, start_offset, delivery_complete_count, written))
        self._answer(lambda: then(*self.error))

    def initialize_state(self, key: SharePartitionKey, state_epoch: int, start_offset: int, then: Done) -> None:
        raise NotImplementedError

    def delete_state(self, key: SharePartitionKey, then: Done) -> None:
        raise NotImplementedError

    def read_summary(
        self, key: SharePartitionKey, leader_epoch: int, then: Callable[[ReadStateSummaryResult], None]
    ) -> None:
        raise NotImplementedError
