"""Random lives of the records of one share partition, against a model that knows single offsets.

    A record that was acknowledged is never delivered again.
    Every record is delivered until it is accepted, rejected, or at its limit.
    Every offset in flight has exactly one state, and the model has the same.

Writes to the share coordinator may succeed or fail, at once or later; locks time out; the log loses
its oldest records; another leader begins with what was written.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kafkadouble.server.requests.request import Refusal
from kafkadouble.server.share.acknowledgement import (
    AcknowledgementBatch,
    StateChange,
    acknowledge,
    complete,
    release,
    time_out,
)
from kafkadouble.server.share.acquisition import AcquireRequest, ShareAcquireMode, acquire
from kafkadouble.server.share.in_flight_records import InFlightRecords
from kafkadouble.server.share.persister import PersisterStateBatch
from kafkadouble.server.share.record_state import (
    ACQUIRED,
    ARCHIVED,
    AVAILABLE,
    STATE_AFTER,
    AcknowledgeType,
    RecordState,
)
from kafkadouble.server.share.share_group_config import ShareGroupConfig
from kafkadouble.server.share.start_offset_movement import advance, move_to_log_start

from .shapes import headers

GROUP = ShareGroupConfig(record_lock_duration_ms=1_000, delivery_count_limit=3, partition_max_record_locks=25)
MEMBERS = ("a", "b", "c")
members = st.sampled_from(MEMBERS)
outcomes = st.sampled_from(("written", "failed", "later"))


@dataclass(frozen=True)
class Model:
    """One offset: as the records should have it."""

    state: RecordState = AVAILABLE
    member: str = ""
    count: int = 0
    deadline: int | None = None
    before: Model | None = None
    """While a change is written: the state before it."""

    def undone(self, now: int) -> Model:
        """After a failed write."""
        assert self.before is not None
        if self.before.deadline is not None and self.before.deadline <= now:
            after = ARCHIVED if self.count >= GROUP.delivery_count_limit else AVAILABLE
            return Model(after, "", self.count)
        return self.before


class RecordsInFlight(RuleBasedStateMachine):
    """The records of a share partition, and the model."""

    @initialize(start=st.integers(0, 20))
    def begin(self, start: int) -> None:
        self.now = 0
        self.log: list[tuple[int, int]] = []
        self.log_start = self.log_end = start
        self.records = InFlightRecords(start)
        self.model: dict[int, Model] = {}
        self.kept: dict[int, tuple[RecordState, int]] = {}
        self.kept_start = start
        self.delivered: set[int] = set()
        self.finished: set[int] = set()
        self.pending: list[tuple[list[StateChange], int]] = []

    # What happens to the log.

    @rule(sizes=st.lists(st.integers(1, 12), min_size=1, max_size=4))
    def produce(self, sizes: list[int]) -> None:
        for size in sizes:
            self.log.append((self.log_end, self.log_end + size - 1))
            self.log_end += size

    @precondition(lambda self: self.log_end > self.log_start)
    @rule(data=st.data())
    def delete_oldest(self, data: st.DataObject) -> None:
        self.log_start = data.draw(st.integers(self.log_start, self.log_end))

    # What members do.

    @rule(
        member=members,
        most=st.integers(1, 30),
        size=st.integers(1, 15),
        mode=st.sampled_from(ShareAcquireMode),
        read=st.integers(1, 40),
    )
    def take(self, member: str, most: int, size: int, mode: ShareAcquireMode, read: int) -> None:
        offset = self.records.next_fetch_offset
        if offset < self.log_start:
            self.follow_log_start()
            return
        batches = [each for each in self.log if each[1] >= offset][:read]
        if not batches or not self.records.can_acquire(GROUP.partition_max_record_locks):
            return
        request = AcquireRequest(member, offset, most, size, mode)
        got = acquire(self.records, headers(*batches), request, GROUP, self.now)
        for first, last, count in got:
            for each in range(first, last + 1):
                known = self.model.get(each, Model())
                assert (known.state, known.before, known.count) == (AVAILABLE, None, count - 1)
                assert each not in self.finished
                assert each >= self.records.start_offset
                self.delivered.add(each)
                self.model[each] = Model(ACQUIRED, member, count, self.now + GROUP.record_lock_duration_ms)
        for number in range(self.records.start_offset, self.records.end_offset + 1):
            if self.records.count and self.is_in_flight(number):
                self.model.setdefault(number, Model())
        if mode is ShareAcquireMode.RECORD_LIMIT:
            assert sum(each.record_count for each in got) <= most

    @precondition(lambda self: self.model)
    @rule(member=members, data=st.data(), outcome=outcomes)
    def acknowledge(self, member: str, data: st.DataObject, outcome: str) -> None:
        """Acknowledges what the member has acquired, and sometimes what it has not."""
        own = [each for each, known in self.model.items() if known.member == member and known.before is None]
        first = data.draw(st.sampled_from(sorted(own) or sorted(self.model)))
        last = data.draw(st.integers(first, first + 12))
        while not all(self.is_in_flight(number) for number in range(first, last + 1)) and last > first:
            last -= 1
        size = data.draw(st.sampled_from((1, last - first + 1)))
        types = data.draw(st.lists(st.sampled_from(AcknowledgeType), min_size=size, max_size=size))
        touched = [number for number in range(first, last + 1) if number >= self.records.start_offset]
        is_allowed = all(
            (known := self.model.get(each)) is not None
            and (known.state, known.member, known.before) == (ACQUIRED, member, None)
            for each in touched
        )
        renewed = {each: types[(each - first) % size] for each in touched}
        try:
            changes = acknowledge(self.records, member, [AcknowledgementBatch(first, last, types)], GROUP, self.now)
        except Refusal:
            assert not is_allowed
            self.adopt_renewed(renewed)
            return
        assert is_allowed
        for each in touched:
            if renewed[each] is AcknowledgeType.RENEW:
                deadline = self.now + GROUP.record_lock_duration_ms
                self.model[each] = replace(self.model[each], deadline=deadline)
            else:
                self.change(each, STATE_AFTER[renewed[each]])
        self.write(changes, outcome)

    def adopt_renewed(self, types: dict[int, AcknowledgeType]) -> None:
        """Of a refused request, the renewed locks stay."""
        if AcknowledgeType.RENEW not in types.values():
            return
        for batch in self.records:
            for state in batch.states:
                for number in range(state.first_offset, state.last_offset + 1):
                    if types.get(number) is AcknowledgeType.RENEW and state.state is ACQUIRED:
                        self.model[number] = replace(self.model[number], deadline=state.lock_deadline)

    @rule(member=members, outcome=outcomes)
    def leave(self, member: str, outcome: str) -> None:
        """The member's session ends."""
        for each, known in list(self.model.items()):
            if (known.state, known.member, known.before) == (ACQUIRED, member, None):
                self.change(each, ARCHIVED if each < self.records.start_offset else AVAILABLE)
        self.write(release(self.records, member, GROUP), outcome)

    # What time and the share coordinator do.

    @rule(ms=st.integers(1, 700), outcome=st.sampled_from(("written", "failed")))
    def let_time_pass(self, ms: int, outcome: str) -> None:
        self.now += ms
        for each, known in list(self.model.items()):
            if known.state is ACQUIRED and known.deadline is not None and known.deadline <= self.now:
                self.change(each, ARCHIVED if each < self.records.start_offset else AVAILABLE)
                self.model[each] = replace(self.model[each], before=None, deadline=None)
        changes = time_out(self.records, GROUP, self.now)
        due = self.records.next_lock_deadline(self.now)
        assert due is None or due > self.now
        if outcome == "written":
            self.keep(changes, self.records.start_offset)
        advance(self.records)

    @precondition(lambda self: self.pending)
    @rule(outcome=st.sampled_from(("written", "failed")), data=st.data())
    def end_write(self, outcome: str, data: st.DataObject) -> None:
        self.end(*self.pending.pop(data.draw(st.integers(0, len(self.pending) - 1))), outcome)

    @rule()
    def fail_over(self) -> None:
        """Another leader begins with what was written."""
        while self.pending:
            self.end(*self.pending.pop(0), "failed")
        kept = [PersisterStateBatch(each, each, *self.kept[each]) for each in sorted(self.kept)]
        self.records = InFlightRecords(self.kept_start, kept)
        self.model = {each: Model(state, "", count) for each, (state, count) in self.kept.items()}
        advance(self.records)

    # The model.

    def is_in_flight(self, offset: int) -> bool:
        floor = self.records.floor(offset)
        return floor is not None and floor.last_offset >= offset

    def change(self, offset: int, after: RecordState) -> None:
        known = self.model[offset]
        if after is AVAILABLE and known.count >= GROUP.delivery_count_limit:
            after = ARCHIVED
        self.model[offset] = Model(after, "", known.count, known.deadline, known)

    def follow_log_start(self) -> None:
        start = self.records.start_offset
        assert move_to_log_start(self.records, self.log_start)
        for each, known in list(self.model.items()):
            if start <= each < self.log_start and known.state is AVAILABLE:
                self.model[each] = replace(known, state=ARCHIVED)

    def write(self, changes: list[StateChange], outcome: str) -> None:
        """Begins a write, which has the start offset of now."""
        self.pending.append((changes, self.records.start_offset))
        if outcome != "later":
            self.end(*self.pending.pop(), outcome)

    def end(self, changes: list[StateChange], start_offset: int, outcome: str) -> None:
        complete(self.records, changes, committed=outcome == "written", now=self.now)
        for change in changes:
            for number in range(change.written.first_offset, change.written.last_offset + 1):
                known = self.model[number]
                if outcome == "written" or self.was_archived(number):
                    self.model[number] = replace(known, before=None, deadline=None)
                else:
                    self.model[number] = known.undone(self.now)
        if outcome == "written":
            self.keep(changes, start_offset)
            advance(self.records)

    def was_archived(self, offset: int) -> bool:
        """Whether the log lost the record while its change was written."""
        floor = self.records.floor(offset)
        state = None if floor is None else floor.state_at(offset)
        return state is not None and state.is_archived

    def keep(self, changes: list[StateChange], start_offset: int) -> None:
        """The share coordinator stores what it is sent."""
        for change in changes:
            for number in range(change.written.first_offset, change.written.last_offset + 1):
                state = RecordState(change.written.delivery_state)
                self.kept[number] = (state, change.written.delivery_count)
                self.finished |= {number} if state.is_terminal else set()
        self.kept_start = max(self.kept_start, start_offset)
        self.kept = {each: kept for each, kept in self.kept.items() if each >= self.kept_start}

    @invariant()
    def every_offset_has_one_state(self) -> None:
        if not hasattr(self, "records"):
            return
        next_offset = -1
        for batch in self.records:
            for state in batch.states:
                assert state.first_offset >= next_offset
                assert state.first_offset <= state.last_offset
                next_offset = state.last_offset + 1
                for number in range(state.first_offset, next_offset):
                    known = self.model[number]
                    shown = (state.state, state.member_id, state.delivery_count, state.transition is not None)
                    assert shown == (known.state, known.member, known.count, known.before is not None), number
        done = sum(
            known.state.is_terminal and self.is_in_flight(each) and each >= self.records.start_offset
            for each, known in self.model.items()
        )
        assert self.records.delivery_complete_count == done

    @invariant()
    def only_what_is_done_is_before_the_start_offset(self) -> None:
        if not hasattr(self, "records"):
            return
        for each, known in self.model.items():
            if each < self.records.start_offset and each >= self.log_start and not self.is_in_flight(each):
                assert known.state.is_terminal

    def teardown(self) -> None:
        """Everything that is left is delivered, once its locks have timed out."""
        if not hasattr(self, "records"):
            return
        while self.pending:
            self.end(*self.pending.pop(0), "written")
        self.let_time_pass(10_000, "written")
        for _ in range(10 * (self.log_end + 10)):
            if self.records.next_fetch_offset >= self.log_end:
                break
            self.take("a", 30, 10, ShareAcquireMode.BATCH_OPTIMIZED, 40)
            own = sorted(each for each, known in self.model.items() if known.member == "a")
            changes = acknowledge(
                self.records, "a", [AcknowledgementBatch(each, each, [1]) for each in own], GROUP, self.now
            )
            for each in own:
                if each >= self.records.start_offset:
                    self.change(each, STATE_AFTER[AcknowledgeType.ACCEPT])
                else:
                    self.model[each] = Model(ARCHIVED)
            self.write(changes, "written")
        assert self.records.start_offset >= self.log_end
        assert set(range(self.log_start, self.log_end)) <= self.delivered


RecordsInFlight.TestCase.settings = settings(max_examples=80, stateful_step_count=40, deadline=None)
TestRecordsInFlight = RecordsInFlight.TestCase
