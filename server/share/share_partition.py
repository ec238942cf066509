"""A partition as one share group sees it, on the broker that leads the partition (KIP-932).

    EMPTY -> INITIALIZING -> ACTIVE -> FENCED
                          -> FAILED

It connects the state machine of its records (`in_flight_records`) with the share coordinator, with
one timer for all acquisition locks, and with the fetches that wait for records of this group.

Rules. It is read from the share coordinator once, and written after each change of an acquired
record. An acknowledgement is answered when its write is over; if the write fails, its changes are
undone. It belongs to one leader epoch. When the broker resigns, the share partition is fenced and
dropped: it delivers nothing more, and the next leader reads what was written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto

from kafkadouble.messages import error_codes
from kafkadouble.wire.client_log import ClientLog

from ..requests.request import Refusal
from ..requests.timers import Timer
from ..requests.waiting import Waiters
from . import acknowledgement
from .acknowledgement import AcknowledgementBatch, StateChange
from .acquisition import AcquiredRecords, AcquireRequest, acquire
from .auto_offset_reset import start_offset_of
from .fetched_batches import FetchedBatches
from .host import ShareHost
from .in_flight_records import InFlightRecords
from .persister import (
    UNINITIALIZED_START_OFFSET,
    Persister,
    PersisterStateBatch,
    ReadStateResult,
    SharePartitionKey,
)
from .record_state import ARCHIVED, ARCHIVING
from .share_group_config import ShareGroupConfig, ShareGroupConfigProvider
from .share_group_dlq_manager import ShareGroupDLQManager, ShareGroupDLQRecordParameter
from .start_offset_movement import advance, move_to_log_start

log = ClientLog("kafkadouble.server.share")

Changed = Callable[[Refusal | None], None]
"""The callback after a change: with its error, or None."""

SERVER_ERROR = "Unable to complete operation due to server error."

MEMBER_SEES = {
    error_codes.NOT_COORDINATOR: error_codes.COORDINATOR_NOT_AVAILABLE,
    error_codes.COORDINATOR_NOT_AVAILABLE: error_codes.COORDINATOR_NOT_AVAILABLE,
    error_codes.COORDINATOR_LOAD_IN_PROGRESS: error_codes.COORDINATOR_NOT_AVAILABLE,
    error_codes.GROUP_ID_NOT_FOUND: error_codes.GROUP_ID_NOT_FOUND,
    error_codes.UNKNOWN_TOPIC_OR_PARTITION: error_codes.UNKNOWN_TOPIC_OR_PARTITION,
    error_codes.FENCED_LEADER_EPOCH: error_codes.NOT_LEADER_OR_FOLLOWER,
    error_codes.FENCED_STATE_EPOCH: error_codes.NOT_LEADER_OR_FOLLOWER,
}
"""Error of the share coordinator -> the error that members get; any other is
UNKNOWN_SERVER_ERROR."""

HIDDEN = (error_codes.SASL_AUTHENTICATION_FAILED, error_codes.UNSUPPORTED_VERSION)
"""Errors between brokers, whose text members do not get."""

FENCING = frozenset(
    (
        error_codes.NOT_LEADER_OR_FOLLOWER,
        error_codes.FENCED_STATE_EPOCH,
        error_codes.GROUP_ID_NOT_FOUND,
        error_codes.UNKNOWN_TOPIC_OR_PARTITION,
    )
)
"""Errors after which a share partition is dropped: another broker leads it, or it is deleted."""


class SharePartitionPhase(Enum):
    """The life of a share partition on this broker."""

    EMPTY = auto()
    INITIALIZING = auto()
    ACTIVE = auto()
    FAILED = auto()
    FENCED = auto()


def persister_error(code: int, message: str | None) -> Refusal | None:
    """The error that members get for an error of the share coordinator; None for success."""
    if not code:
        return None
    seen = MEMBER_SEES.get(code, error_codes.UNKNOWN_SERVER_ERROR)
    return Refusal(seen, SERVER_ERROR if code in HIDDEN else message)


class SharePartition:
    """One share partition. `waiters` are the share fetches of its group that wait for records.

    `failure` is why it could not be read from the share coordinator. `drop` is called once when it
    must not be used any more.
    """

    def __init__(
        self,
        node: ShareHost,
        key: SharePartitionKey,
        topic: str,
        leader_epoch: int,
        persister: Persister,
        configs: ShareGroupConfigProvider,
        dlq: ShareGroupDLQManager,
        drop: Callable[[SharePartition], None],
    ) -> None:
        self._node, self.key, self.topic, self.leader_epoch = node, key, topic, leader_epoch
        self._persister, self._configs, self._dlq, self._drop = persister, configs, dlq, drop
        self.phase = SharePartitionPhase.EMPTY
        self.state_epoch = -1
        self.records = InFlightRecords(0)
        self.failure: Refusal | None = None
        self.waiters = Waiters()
        self._timer: Timer | None = None

    @property
    def is_active(self) -> bool:
        return self.phase is SharePartitionPhase.ACTIVE

    @property
    def config(self) -> ShareGroupConfig:
        """The configuration of the group now."""
        return self._configs.of(self.key.group_id)

    # Reading it from the share coordinator.

    def maybe_initialize(self) -> None:
        """Reads the state from the share coordinator, unless that has begun."""
        if self.phase is SharePartitionPhase.EMPTY:
            self.phase = SharePartitionPhase.INITIALIZING
            self._persister.read_state(self.key, self.leader_epoch, self._read)

    def _read(self, result: ReadStateResult) -> None:
        if self.phase is not SharePartitionPhase.INITIALIZING:
            return
        try:
            if (error := persister_error(result.error_code, result.error_message)) is not None:
                raise error
            self._initialize(result)
        except Refusal as refusal:
            log.warning("%r cannot be initialized: %s", self, refusal)
            self.phase, self.failure = SharePartitionPhase.FAILED, refusal
            self._drop(self)
        self.waiters.wake_all()

    def _initialize(self, result: ReadStateResult) -> None:
        start_offset = result.start_offset
        if start_offset == UNINITIALIZED_START_OFFSET:
            start_offset = start_offset_of(
                self._node, self.topic, self.key.partition, self.leader_epoch, self.config.auto_offset_reset
            )
        try:
            self.records = InFlightRecords(start_offset, result.batches)
        except ValueError as problem:
            log.error("%r has an invalid state: %s", self, problem)
            why = f"Failed to initialize the share partition {self.key.group_id}-{self.topic}-{self.key.partition}"
            raise Refusal(error_codes.UNKNOWN_SERVER_ERROR, why) from problem
        self.state_epoch, self.phase = result.state_epoch, SharePartitionPhase.ACTIVE
        advance(self.records)
        self._give_up(self._left_archiving())

    def _left_archiving(self) -> list[StateChange]:
        """The records that an earlier leader did not finish giving up."""
        limit = self.config.delivery_count_limit
        causes = {True: acknowledgement.DELIVERY_COUNT_EXCEEDED, False: acknowledgement.CLIENT_REJECT}
        return [
            StateChange((state,), acknowledgement.as_written(state), None, causes[state.delivery_count >= limit])
            for batch in self.records
            for state in batch.states
            if state.state is ARCHIVING
        ]

    # Delivering, acknowledging, releasing.

    def can_acquire(self) -> bool:
        """Whether a member may acquire records now."""
        return self.is_active and self.records.can_acquire(self.config.partition_max_record_locks)

    def acquire(self, fetched: FetchedBatches, request: AcquireRequest) -> list[AcquiredRecords]:
        """Acquires records for a member from what was read at `request.fetch_offset`."""
        if not self.is_active:
            return []
        acquired = acquire(self.records, fetched.headers, request, self.config, self._node.now)
        self._schedule(self._node.now + self.config.record_lock_duration_ms if acquired else None)
        return fetched.without_aborted(self.records, acquired) if acquired else acquired

    def acknowledge(self, member_id: str, batches: Sequence[AcknowledgementBatch], then: Changed) -> None:
        """Acknowledges records of a member; `then` is called once, when the change is written."""
        try:
            changes = acknowledgement.acknowledge(self.records, member_id, batches, self.config, self._node.now)
        except Refusal as refusal:
            self.waiters.wake_all()
            then(refusal)
            return
        self._write_changes(changes, then)

    def release(self, member_id: str, then: Changed) -> None:
        """Releases every record that the member has acquired."""
        self._write_changes(acknowledgement.release(self.records, member_id, self.config), then)

    def move_to_log_start(self, log_start_offset: int) -> None:
        """The log has no records before this offset any more."""
        if not move_to_log_start(self.records, log_start_offset):
            log.error("%r begins after the log, which begins at %d", self, log_start_offset)

    def _write_changes(self, changes: Sequence[StateChange], then: Changed) -> None:
        if not changes:
            then(None)
            return
        self._write([change.written for change in changes], lambda error: self._written(changes, error, then))

    def _written(self, changes: Sequence[StateChange], error: Refusal | None, then: Changed) -> None:
        acknowledgement.complete(self.records, changes, committed=error is None, now=self._node.now)
        if error is None:
            advance(self.records)
        self.waiters.wake_all()
        then(error)
        if error is None:
            self._give_up([change for change in changes if change.written.delivery_state == ARCHIVING])
        elif error.code in FENCING:
            self._drop(self)

    def _write(self, batches: Sequence[PersisterStateBatch], then: Changed) -> None:
        def done(code: int, message: str | None) -> None:
            error = persister_error(code, message)
            if error is not None:
                log.warning("%r cannot be written: %s", self, error)
            then(error)

        self._persister.write_state(
            self.key,
            self.state_epoch,
            self.leader_epoch,
            self.records.start_offset,
            self.records.delivery_complete_count,
            batches,
            done,
        )

    # Records that are given up.

    def _give_up(self, changes: Sequence[StateChange]) -> None:
        for change in changes:
            written = change.written
            given_up = ShareGroupDLQRecordParameter(
                self.key, written.first_offset, written.last_offset, written.delivery_count, change.dlq_cause or ""
            )
            self._dlq.enqueue(given_up, lambda change=change: self._archive(change))  # type: ignore[misc]

    def _archive(self, change: StateChange) -> None:
        """The dead-letter queue is done with these records."""
        for state in change.states:
            state.archive()
        self._write([change.written._replace(delivery_state=ARCHIVED)], self._archived)

    def _archived(self, error: Refusal | None) -> None:
        if advance(self.records):
            self.waiters.wake_all()

    # Acquisition locks.

    def _schedule(self, deadline: int | None) -> None:
        """Sets the timer to fire at `deadline` (ms) at the latest."""
        if deadline is None or (self._timer is not None and self._timer.deadline <= deadline):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._node.waiting.timers.at(deadline, self._time_out)

    def _time_out(self, now: int) -> None:
        self._timer = None
        changes = acknowledgement.time_out(self.records, self.config, now)
        self._schedule(self.records.next_lock_deadline(now))
        if changes:
            self._write([change.written for change in changes], lambda error: self._timed_out(changes))
            self.waiters.wake_all()

    def _timed_out(self, changes: Sequence[StateChange]) -> None:
        if advance(self.records):
            self.waiters.wake_all()
        self._give_up([change for change in changes if change.written.delivery_state == ARCHIVING])

    def fence(self) -> None:
        """Delivers nothing more, and tells the fetches that wait."""
        self.phase = SharePartitionPhase.FENCED
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.waiters.wake_all()

    def __repr__(self) -> str:
        name = f"share partition {self.key.group_id}:{self.topic}-{self.key.partition}"
        return f"{name} ({self.phase.name.lower()} in epoch {self.leader_epoch}, {self.records!r})"
