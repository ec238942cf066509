"""Acknowledges and releases records that a member has acquired (KIP-932, KIP-1222).

An acknowledgement names offsets, and one type for all of them or one for each. It happens as a
whole or not at all: if one offset is not acquired by the member, all that the request changed in
this share partition is undone. A change counts at once and is written afterwards; until it is
written, the records cannot change again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from kafkadouble.messages import error_codes

from ..requests.request import Refusal
from .in_flight_batch import InFlightBatch
from .in_flight_records import InFlightRecords
from .in_flight_state import NO_MEMBER, InFlightState, StateTransition
from .persister import PersisterStateBatch
from .record_state import ACQUIRED, ARCHIVED, ARCHIVING, AVAILABLE, STATE_AFTER, AcknowledgeType, RecordState
from .share_group_config import ShareGroupConfig

CLIENT_REJECT = "Offset rejected by client."
DELIVERY_COUNT_EXCEEDED = "Offset delivery count exceeded the threshold."
"""Why a record goes to the dead-letter queue (KIP-1191)."""


class AcknowledgementBatch(NamedTuple):
    """The offsets that are acknowledged, and one type, or one for each offset."""

    first_offset: int
    last_offset: int
    types: Sequence[int]


class StateChange(NamedTuple):
    """A change of records that is written to the share coordinator.

    `transition` is None if the change is not undone when the write fails. `dlq_cause` says why the
    records go to the dead-letter queue, if they do.
    """

    states: Sequence[InFlightState]
    written: PersisterStateBatch
    transition: StateTransition | None = None
    dlq_cause: str | None = None


def acknowledge(
    records: InFlightRecords,
    member_id: str,
    batches: Sequence[AcknowledgementBatch],
    group: ShareGroupConfig,
    now: int,
) -> list[StateChange]:
    """Begins the changes that a member's acknowledgements ask for.

    Refusal(INVALID_RECORD_STATE) for records that the member has not acquired,
    Refusal(INVALID_REQUEST) for offsets that are not in flight; then nothing has changed, except
    that renewed locks stay renewed.
    """
    changes: list[StateChange] = []
    try:
        for batch in batches:
            if batch.last_offset >= records.start_offset:
                _Acknowledgement(records, member_id, batch, group, now).run(changes)
    except Refusal:
        complete(records, changes, committed=False, now=now)
        raise
    return changes


def release(records: InFlightRecords, member_id: str, group: ShareGroupConfig) -> list[StateChange]:
    """Begins to release every record that a member has acquired."""
    owners = (member_id, NO_MEMBER)
    return [
        start_change(state, _released(records, state), group)
        for batch in records
        if batch.is_split or batch.whole.member_id in owners
        for state in _split_at_start(records, batch)
        if state.state is ACQUIRED and state.member_id in owners
    ]


def time_out(records: InFlightRecords, group: ShareGroupConfig, now: int) -> list[StateChange]:
    """Releases the records whose acquisition lock has timed out. They are available at once, also
    if the write fails."""
    changes = []
    for batch in records:
        if not any(state.is_timed_out(now) for state in batch.states):
            continue
        for state in _split_at_start(records, batch):
            if not state.is_timed_out(now):
                continue
            after = _released(records, state)
            state.try_update(after, group.delivery_count_limit, has_dlq=group.has_dlq)
            state.lock_deadline = None
            if state.state is AVAILABLE:
                records.mark_available()
            cause = DELIVERY_COUNT_EXCEEDED if state.state is ARCHIVING else None
            changes.append(StateChange((state,), as_written(state), None, cause))
    return changes


def complete(records: InFlightRecords, changes: Sequence[StateChange], *, committed: bool, now: int) -> None:
    """Ends changes that were begun: they were written, or they are undone."""
    for change in changes:
        if change.transition is not None:
            change.transition.complete(committed=committed, now=now)
        if any(state.state is AVAILABLE for state in change.states):
            records.mark_available()


def _split_at_start(records: InFlightRecords, batch: InFlightBatch) -> Sequence[InFlightState]:
    """The states of a batch, split at the start offset if it is acquired across that."""
    start = records.start_offset
    if batch.is_cut_by(start) and (batch.is_split or batch.whole.state is ACQUIRED):
        batch.between(start, batch.last_offset)
    return list(batch.states)


def start_change(
    state: InFlightState, after: RecordState, group: ShareGroupConfig, cause: str | None = None
) -> StateChange:
    """Begins one change of acquired records. Refusal(INVALID_RECORD_STATE) if it is not allowed."""
    transition = state.start_transition(after, group.delivery_count_limit, has_dlq=group.has_dlq)
    if transition is None:
        raise Refusal(error_codes.INVALID_RECORD_STATE, "Unable to acknowledge records for the batch")
    if state.state is ARCHIVING and cause is None:
        cause = DELIVERY_COUNT_EXCEEDED
    return StateChange(transition.states, as_written(state), transition, cause)


def as_written(state: InFlightState) -> PersisterStateBatch:
    """A state as the share coordinator stores it."""
    return PersisterStateBatch(state.first_offset, state.last_offset, state.state, state.delivery_count)


def _released(records: InFlightRecords, state: InFlightState) -> RecordState:
    """The state of released records: the log no longer has those before the start offset."""
    return ARCHIVED if state.last_offset < records.start_offset else AVAILABLE


class _Acknowledgement:
    """One batch of one acknowledgement."""

    def __init__(
        self,
        records: InFlightRecords,
        member_id: str,
        acknowledged: AcknowledgementBatch,
        group: ShareGroupConfig,
        now: int,
    ) -> None:
        self._records, self._member_id, self._acknowledged = records, member_id, acknowledged
        self._group, self._now = group, now

    def run(self, changes: list[StateChange]) -> None:
        """Begins the changes of every batch in flight that the acknowledgement touches."""
        acknowledged, start = self._acknowledged, self._records.start_offset
        for batch in self._in_flight():
            if batch.last_offset < start:
                continue
            if not batch.is_split:
                self._check_owner(batch.whole)
            is_whole = batch.is_within(acknowledged.first_offset, acknowledged.last_offset)
            if is_whole and not batch.is_split and len(acknowledged.types) == 1 and not batch.is_cut_by(start):
                _check(
                    batch.whole.state is ACQUIRED,
                    "The batch cannot be acknowledged. The batch is not in the acquired state.",
                )
                self._apply(batch.whole, acknowledged.types[0], changes)
                continue
            _check(
                batch.is_split or batch.whole.state is ACQUIRED,
                "The batch cannot be acknowledged. The subset batch is not in the acquired state.",
            )
            self._acknowledge_part(batch, changes)

    def _in_flight(self) -> Sequence[InFlightBatch]:
        """The batches in flight that hold the offsets."""
        records, first, last = self._records, self._acknowledged.first_offset, self._acknowledged.last_offset
        floor = records.floor(first)
        if floor is None and first < records.start_offset <= last:
            floor = records.floor(records.start_offset)
        _check(floor is not None, "Batch record not found. The request batch offsets are not found in the cache.")
        assert floor is not None
        batches = records.beginning_between(floor.first_offset, last)
        where = "first" if batches[-1].last_offset < first else "last" if batches[-1].last_offset < last else None
        if where is not None:
            why = f"Batch record not found. The {where} offset in request is past acquired records."
            raise Refusal(error_codes.INVALID_REQUEST, why)
        return batches

    def _check_owner(self, whole: InFlightState) -> None:
        _check(
            whole.member_id != NO_MEMBER, "The batch cannot be acknowledged. The batch is not in the acquired state."
        )
        _check(whole.member_id == self._member_id, "Member is not the owner of batch record")

    def _acknowledge_part(self, batch: InFlightBatch, changes: list[StateChange]) -> None:
        for first, last, type in self._ranges():
            first, last = max(first, batch.first_offset, self._records.start_offset), min(last, batch.last_offset)
            for state in batch.between(first, last) if first <= last else ():
                _check(state.state is ACQUIRED, "The offset cannot be acknowledged. The offset is not acquired.")
                _check(state.member_id == self._member_id, "Member is not the owner of offset")
                self._apply(state, type, changes)

    def _ranges(self) -> Iterator[tuple[int, int, int]]:
        """The offsets in ranges of one type: first offset, last offset and type."""
        acknowledged = self._acknowledged
        if len(acknowledged.types) == 1:
            yield acknowledged.first_offset, acknowledged.last_offset, acknowledged.types[0]
            return
        first = acknowledged.first_offset
        for type, same in groupby(acknowledged.types):
            count = sum(1 for _ in same)
            yield first, first + count - 1, type
            first += count

    def _apply(self, state: InFlightState, type: int, changes: list[StateChange]) -> None:
        if type == AcknowledgeType.RENEW:
            _check(self._group.renew_acknowledge_enable, "Renewing acquisition locks is not enabled for the group.")
            state.lock_deadline = self._now + self._group.record_lock_duration_ms
            return
        after, cause = STATE_AFTER[AcknowledgeType(type)], None
        if type == AcknowledgeType.REJECT and self._group.has_dlq:
            after, cause = ARCHIVING, CLIENT_REJECT
        changes.append(start_change(state, after, self._group, cause))


def _check(holds: bool, why: str) -> None:
    if not holds:
        raise Refusal(error_codes.INVALID_RECORD_STATE, why)
