"""One partition of a coordinator's topic: the state that its records produce, and the way to write.

    self.write(records)                   # append one batch and replay it into the state
    return self.when_committed(answer)    # answer when everything written so far is committed

Rules. Persisted state changes only by replaying a record. One exception: `append_without_replay`
persists a change that was made in memory first, as Kafka does for the members of a classic group.
The records of one write are one batch, so all of them are stored or none. An answer never shows
state that is not committed. When leadership ends, the shard is closed: waiting requests get
NOT_COORDINATOR and the state is dropped. A subclass is one kind of coordinator; this module knows
none of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, TypeVar

from kafkadouble.messages import error_codes
from kafkadouble.messages.message import Message
from kafkadouble.wire.batch import Record, encode_batch
from kafkadouble.wire.client_log import ClientLog

from ..log.log import AppendRefused
from ..log.producers import NOT_REQUIRED, VerificationStateEntry
from ..replica.replication.partition import Partition
from ..requests.request import Refusal
from ..requests.timers import Action, Timer
from ..requests.waiting import Until, Wait, sliced
from .coordinator_record import CoordinatorRecord

if TYPE_CHECKING:
    from .host import CoordinatorHost

T = TypeVar("T")

APPEND_ERRORS = {
    error_codes.MESSAGE_TOO_LARGE: error_codes.UNKNOWN_SERVER_ERROR,
    error_codes.RECORD_LIST_TOO_LARGE: error_codes.UNKNOWN_SERVER_ERROR,
    error_codes.NOT_ENOUGH_REPLICAS: error_codes.COORDINATOR_NOT_AVAILABLE,
    error_codes.UNKNOWN_TOPIC_OR_PARTITION: error_codes.COORDINATOR_NOT_AVAILABLE,
    error_codes.NOT_LEADER_OR_FOLLOWER: error_codes.NOT_COORDINATOR,
    error_codes.KAFKA_STORAGE_ERROR: error_codes.NOT_COORDINATOR,
}
"""Error code of a failed append -> error code in the coordinator's response."""

BATCH_RECORDS = 500
"""The largest number of records in a batch of `write_in_batches`."""

log = ClientLog("kafkadouble.server.coordinator")


class CoordinatorShard(ABC):
    """The part of a coordinator that one partition holds."""

    commit_timeout_setting: ClassVar[str]
    """The broker setting that bounds (ms) how long a response waits for the commit."""

    tolerates_damage: ClassVar[bool] = False
    """Whether loading skips values of an unknown version, and the shard opens with what was loaded
    before a damaged record. Otherwise both keep it closed."""

    def __init__(self, node: CoordinatorHost, partition: Partition) -> None:
        self.node, self.partition = node, partition
        self.closed = False
        self.last_written_offset = partition.log.log_end_offset
        """The end offset after the last write. At this high watermark everything is committed."""

    @abstractmethod
    def replay(self, offset: int, producer_id: int, key: Message, value: Message | None) -> None:
        """Applies one record to the state.

        `producer_id` is -1 outside a transaction; `value` is None for a tombstone.
        """

    @abstractmethod
    def replay_end_transaction_marker(self, producer_id: int, committed: bool) -> None:
        """Applies a transaction marker: keeps or drops what the producer's transaction wrote."""

    @abstractmethod
    def on_loaded(self) -> None:
        """The log is replayed: start the timers that the state needs."""

    @abstractmethod
    def on_unloaded(self) -> None:
        """Leadership is lost: answer every waiting request and cancel every timer."""

    @property
    def now(self) -> int:
        return self.node.now

    def schedule(self, delay_ms: int, action: Action) -> Timer:
        """Calls `action(now)` after `delay_ms`."""
        return self.node.waiting.timers.at(self.now + delay_ms, action)

    def encoded(self, records: Sequence[CoordinatorRecord]) -> Wait[list[Record]]:
        """Encodes records in slices, for `write` or `write_transactional`."""
        now = self.now
        return (yield from sliced(lambda each: each[1].encoded(each[0], now), enumerate(records)))

    def write(self, records: Sequence[CoordinatorRecord], encoded: Sequence[Record] | None = None) -> None:
        """Appends records as one batch and replays them. `encoded`: the same records, if they are
        encoded already.

        Raises Refusal if the log refuses the batch; the state is unchanged then.
        """
        if records:
            for offset, record in enumerate(records, self._append(records, encoded)):
                self.replay(offset, -1, record.key, record.value)

    def write_transactional(
        self,
        records: Sequence[CoordinatorRecord],
        encoded: Sequence[Record],
        producer_id: int,
        producer_epoch: int,
        verification: VerificationStateEntry | None,
    ) -> None:
        """Does what `write` does for a producer's transaction. The records count when its
        commit marker is written."""
        if not records:
            return
        batch = encode_batch(
            encoded,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            # As in Kafka every batch has sequence 0: a coordinator's sequences are not checked.
            base_sequence=0,
            is_transactional=True,
            seal=False,
        )
        base_offset = self._append_batch(batch, verification)
        for offset, record in enumerate(records, base_offset):
            self.replay(offset, producer_id, record.key, record.value)

    def end_transaction(self, producer_id: int, committed: bool, marker: bytearray, transaction_version: int) -> None:
        """Appends a transaction marker, and keeps or drops what the transaction wrote. Raises
        AppendRefused."""
        result = self.partition.append_own(marker, self.now, transaction_version=transaction_version)
        self.last_written_offset = result.last_offset + 1
        self.replay_end_transaction_marker(producer_id, committed)

    def write_in_batches(self, records: Sequence[CoordinatorRecord]) -> None:
        """Writes any number of independent records, in batches of at most BATCH_RECORDS."""
        for start in range(0, len(records), BATCH_RECORDS):
            self._write_or_halve(records[start : start + BATCH_RECORDS])

    def _write_or_halve(self, records: Sequence[CoordinatorRecord]) -> None:
        try:
            self.write(records)
        except Refusal as refusal:
            if len(records) == 1:
                log.warning("%r: the log refused %r: error %s", self, records[0], refusal.code)
                return
            half = len(records) // 2
            self._write_or_halve(records[:half])
            self._write_or_halve(records[half:])

    def append_without_replay(
        self, record: CoordinatorRecord, then: Callable[[int], None] | None = None, *, timeout_ms: int | None = None
    ) -> None:
        """Persists a change that the state already contains.

        `then` is called with 0 when the record is committed, or with the error code that says why
        it is not. It is called even if no connection waits for the result any more. `timeout_ms`
        bounds the commit; the commit timeout, unless given.
        """
        after = then or self._log_failed_append
        try:
            self._append([record])
        except Refusal as refusal:
            after(refusal.code)
        except Exception:  # of a defect the caller gets a code, too
            log.exception("%r: %r was not written", self, record)
            after(error_codes.UNKNOWN_SERVER_ERROR)
        else:
            self.after_commit(after, timeout_ms)

    def _log_failed_append(self, code: int) -> None:
        if code:
            log.warning("%r: a change was not persisted: error %s", self, code)

    def _append(self, records: Sequence[CoordinatorRecord], encoded: Sequence[Record] | None = None) -> int:
        if encoded is None:
            encoded = [record.encoded(delta, self.now) for delta, record in enumerate(records)]
        return self._append_batch(encode_batch(encoded, seal=False))

    def _append_batch(self, batch: bytearray, verification: VerificationStateEntry | None = NOT_REQUIRED) -> int:
        if self.closed:
            raise Refusal(error_codes.NOT_COORDINATOR)
        try:
            result = self.partition.append_own(batch, self.now, verification=verification)
        except AppendRefused as refused:
            raise Refusal(APPEND_ERRORS.get(refused.code, refused.code), refused.message) from refused
        self.last_written_offset = result.last_offset + 1
        return result.base_offset

    def when_committed(self, answer: T, *, timeout_code: int = error_codes.COORDINATOR_NOT_AVAILABLE) -> T | Wait[T]:
        """Returns `answer` if everything written so far is committed, else a generator that waits.

        Raises Refusal(`timeout_code`) if the commit takes longer than the commit timeout.
        """
        if self._is_committed(self.last_written_offset):
            return answer
        return self.wait_for_commit(answer, timeout_code=timeout_code)

    def wait_for_commit(self, answer: T, *, timeout_code: int = error_codes.COORDINATOR_NOT_AVAILABLE) -> Wait[T]:
        """Does the same as `when_committed`, for a handler that already is a generator."""
        code = yield from self._commit(self.last_written_offset, timeout_code)
        if code:
            raise Refusal(code)
        return answer

    def after_commit(self, action: Callable[[int], None], timeout_ms: int | None = None) -> None:
        """Calls `action` with 0 when everything written so far is committed, or with the error code
        that says why it is not. `timeout_ms` is the commit timeout, unless given."""
        if self._is_committed(self.last_written_offset):
            action(error_codes.NONE)
        else:
            steps = self._commit(self.last_written_offset, error_codes.COORDINATOR_NOT_AVAILABLE, timeout_ms)
            self.node.waiting.start(steps, action, partial(_fail_action, action))

    def _is_committed(self, end_offset: int) -> bool:
        return self.partition.high_watermark >= end_offset

    def _commit(self, end_offset: int, timeout_code: int, timeout_ms: int | None = None) -> Wait[int]:
        if timeout_ms is None:
            timeout_ms = self.node.settings.int(self.commit_timeout_setting)
        deadline = self.now + timeout_ms
        while not self.closed and not self._is_committed(end_offset):
            if not (yield Until(deadline, (self.partition.waiters,))):
                return timeout_code
        return error_codes.NOT_COORDINATOR if self.closed else error_codes.NONE

    def close(self) -> None:
        """Drops the state, because leadership ended."""
        self.closed = True
        self.on_unloaded()
        self.partition.waiters.wake_all()

    def __repr__(self) -> str:
        return f"{type(self).__name__} on {self.partition!r}, {'closed' if self.closed else 'open'}"


def _fail_action(action: Callable[[int], None], failure: Exception) -> None:
    log.error("the wait for a commit failed", exc_info=failure)
    action(error_codes.UNKNOWN_SERVER_ERROR)
