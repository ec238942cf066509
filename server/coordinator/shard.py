"""One partition of a coordinator's topic, led here: the state that is the fold of its records, and the way to write more of them.

    self.write(records)               # appended, and folded into the state at once
    return self.settled(answer)       # goes out when everything that is written so far is committed

Rules. State that Kafka persists changes only by folding a record, with one exception: `note` writes down what was changed in memory first,
as Kafka does with the members of a classic group. Records of one write are one batch: all of them hold or none. An answer never shows what
is not committed. When leadership ends the shard is closed: its waiters are told NOT_COORDINATOR, its state is dropped. A subclass is one kind
of coordinator; this file knows none of them.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeVar

from kafkadouble.messages import error_codes
from kafkadouble.messages.message import Message
from kafkadouble.wire.batch import encode_batch

from ..log.log import AppendRefused
from ..replica.partition import Partition
from ..requests.request import Refusal
from ..requests.timers import Action, Timer
from ..requests.waiting import Until, Wait
from .record import CoordinatorRecord

if TYPE_CHECKING:
    from ..node import Node

T = TypeVar("T")

AS_COORDINATOR = {
    error_codes.MESSAGE_TOO_LARGE: error_codes.UNKNOWN_SERVER_ERROR,
    error_codes.RECORD_LIST_TOO_LARGE: error_codes.UNKNOWN_SERVER_ERROR,
    error_codes.NOT_ENOUGH_REPLICAS: error_codes.COORDINATOR_NOT_AVAILABLE,
    error_codes.UNKNOWN_TOPIC_OR_PARTITION: error_codes.COORDINATOR_NOT_AVAILABLE,
    error_codes.NOT_LEADER_OR_FOLLOWER: error_codes.NOT_COORDINATOR,
    error_codes.KAFKA_STORAGE_ERROR: error_codes.NOT_COORDINATOR,
}
"""The code of a refused append -> what the client of a coordinator is told."""

APART = 500
"""Records in a batch whose records do not depend on one another."""

log = logging.getLogger("kafkadouble.server.coordinator")


class Shard(ABC):
    """The part of a coordinator that lives in one partition."""

    commit_timeout_setting: ClassVar[str]
    """The broker's setting for how long (ms) an answer waits to be committed."""

    def __init__(self, node: Node, partition: Partition) -> None:
        self.node, self.partition = node, partition
        self.closed = False
        self.written = partition.log.log_end_offset
        """The offset after the last record of this shard's log; everything below the high watermark is committed."""

    @abstractmethod
    def fold(self, offset: int, producer_id: int, key: Message, value: Message | None) -> None:
        """Let one record change the state; `producer_id` is -1 outside a transaction, `value` None for a tombstone."""

    @abstractmethod
    def end_transaction(self, producer_id: int, committed: bool) -> None:
        """A transaction marker is in the log: what the producer's transaction wrote holds, or never was."""

    @abstractmethod
    def loaded(self) -> None:
        """The log is folded: set the timers that the state asks for."""

    @abstractmethod
    def unloaded(self) -> None:
        """Leadership is lost: nobody may be left waiting, no timer running."""

    @property
    def now(self) -> int:
        return self.node.now

    def at(self, delay: int, action: Action) -> Timer:
        """Have `action(now)` called in `delay` ms."""
        return self.node.waiting.timers.at(self.now + delay, action)

    def write(self, records: Sequence[CoordinatorRecord]) -> None:
        """Append records as one batch, and fold them. Refusal when the log does not take them: nothing has changed then."""
        if records:
            for offset, record in enumerate(records, self._append(records)):
                self.fold(offset, -1, record.key, record.value)

    def write_apart(self, records: Sequence[CoordinatorRecord]) -> None:
        """The same for records that need not hold together, however many: in batches of a moderate size."""
        for start in range(0, len(records), APART):
            self._write_or_halve(records[start : start + APART])

    def _write_or_halve(self, records: Sequence[CoordinatorRecord]) -> None:
        try:
            self.write(records)
        except Refusal as refusal:
            if len(records) == 1:
                log.warning("%r does not take %r: error %s", self, records[0], refusal.code)
                return
            half = len(records) // 2
            self._write_or_halve(records[:half])
            self._write_or_halve(records[half:])

    def note(self, record: CoordinatorRecord, then: Callable[[int], None] | None = None) -> None:
        """Write down what the state has already. `then` is called with 0 when that is committed, or with the error code that says why
        not; whether or not a connection still waits for it."""
        after = then or self._noted
        try:
            self._append([record])
        except Refusal as refusal:
            after(refusal.code)
        else:
            self._after_commit(after)

    def _noted(self, code: int) -> None:
        if code:
            log.warning("%r: a change is not written down: error %s", self, code)

    def _append(self, records: Sequence[CoordinatorRecord]) -> int:
        batch = encode_batch([record.encoded(delta, self.now) for delta, record in enumerate(records)], seal=False)
        try:
            result = self.partition.append_own(batch, self.now)
        except AppendRefused as refused:
            raise Refusal(AS_COORDINATOR.get(refused.code, refused.code), refused.message) from refused
        self.written = result.last_offset + 1
        return result.base_offset

    def settled(self, answer: T, *, late: int = error_codes.COORDINATOR_NOT_AVAILABLE) -> T | Wait[T]:
        """`answer`, as soon as everything that is written so far is committed; Refusal(`late`) when that takes too long."""
        return answer if self._is_committed(self.written) else self.settle(answer, late=late)

    def _after_commit(self, action: Callable[[int], None]) -> None:
        if self._is_committed(self.written):
            action(error_codes.NONE)
        else:
            steps = self._commit(self.written, error_codes.COORDINATOR_NOT_AVAILABLE)
            self.node.waiting.start(steps, action, _unforeseen)

    def _is_committed(self, end: int) -> bool:
        return self.partition.high_watermark >= end

    def settle(self, answer: T, *, late: int = error_codes.COORDINATOR_NOT_AVAILABLE) -> Wait[T]:
        """The same, for a handler that is under way already."""
        code = yield from self._commit(self.written, late)
        if code:
            raise Refusal(code)
        return answer

    def _commit(self, end: int, late: int) -> Wait[int]:
        deadline = self.now + self.node.settings.int(self.commit_timeout_setting)
        while not self.closed and not self._is_committed(end):
            if not (yield Until(deadline, (self.partition.waiters,))):
                return late
        return error_codes.NOT_COORDINATOR if self.closed else error_codes.NONE

    def close(self) -> None:
        """End with the leadership."""
        self.closed = True
        self.unloaded()
        self.partition.waiters.wake_all()

    def __repr__(self) -> str:
        return f"{type(self).__name__} on {self.partition!r}, {'closed' if self.closed else 'open'}"


def _unforeseen(failure: Exception) -> None:
    log.error("what was to follow a commit failed", exc_info=failure)
