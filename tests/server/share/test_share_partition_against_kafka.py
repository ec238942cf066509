"""Compares random lives of a share partition with Apache Kafka 4.4.0's own class, on machines that
have its jars: what is acquired, every error, and the state of every offset. Seeds are printed.

The lives leave out where this broker differs on purpose: records that the log has lost in the
middle of a batch, or in a gap of what the share coordinator kept.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafkadouble.messages import error_codes
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
from kafkadouble.server.share.record_state import ACKNOWLEDGED, ARCHIVED, AVAILABLE, AcknowledgeType
from kafkadouble.server.share.share_group_config import ShareGroupConfig
from kafkadouble.server.share.start_offset_movement import advance, move_to_log_start
from tests.server.configs.witness import Witness, running

from .shapes import headers

STEPS = 120
MEMBERS = ("a", "b", "c")
WRITE_FAILED = "COORDINATOR_NOT_AVAILABLE no"


@pytest.fixture(scope="module")
def kafka() -> Iterator[Witness]:
    """The share partition of Apache Kafka 4.4.0, to compare with."""
    yield from running(Path(__file__).with_name("SharePartitionWitness.java"))


class Life:
    """Random operations, with what becomes of them here."""

    def __init__(self, seed: int) -> None:
        self.chance = chance = random.Random(seed)
        self.now = 0
        self.group = ShareGroupConfig(
            record_lock_duration_ms=1000,
            delivery_count_limit=chance.choice((2, 3, 5, 8)),
            partition_max_record_locks=chance.choice((20, 60, 500)),
        )
        self.log: list[tuple[int, int]] = []
        self.end = start = chance.randrange(0, 20)
        kept = self._kept(start) if chance.random() < 0.5 else []
        self.has_gaps = bool(kept)
        self.records = InFlightRecords(start, kept)
        advance(self.records)
        self.questions: list[dict[str, Any]] = []
        self.answers: list[dict[str, Any]] = []
        self._note(
            "begin",
            "",
            start=start,
            kept=[list(each) for each in kept],
            lock=self.group.record_lock_duration_ms,
            limit=self.group.delivery_count_limit,
            most=self.group.partition_max_record_locks,
        )
        self._produce()

    def _kept(self, start: int) -> list[PersisterStateBatch]:
        found, offset = [], start
        for _ in range(self.chance.randrange(1, 6)):
            offset += self.chance.choice((0, 0, 0, 2, 7))
            last = offset + self.chance.randrange(1, 8)
            state = self.chance.choice((AVAILABLE, AVAILABLE, ACKNOWLEDGED, ARCHIVED))
            count = self.chance.randrange(1, self.group.delivery_count_limit)
            found.append(PersisterStateBatch(offset, last, state, count))
            offset = last + 1
        self.log.append((start, offset - 1))
        self.end = offset
        return found

    def step(self) -> None:
        """One random operation."""
        operations = (self._produce, self._acquire, self._acquire, self._acknowledge, self._acknowledge)
        rare = (self._release, self._let_time_pass, self._delete)
        self.chance.choice(rare if self.chance.random() < 0.2 else operations)()

    def _produce(self) -> None:
        for _ in range(self.chance.randrange(1, 4)):
            last = self.end + self.chance.randrange(0, 12)
            self.log.append((self.end, last))
            self.end = last + 1

    def _acquire(self) -> None:
        chance, offset = self.chance, self.records.next_fetch_offset
        batches = [each for each in self.log if each[1] >= offset][: chance.randrange(1, 8)]
        if not batches or not self.records.can_acquire(self.group.partition_max_record_locks):
            return
        member, most, size = chance.choice(MEMBERS), chance.randrange(1, 40), chance.choice((1, 5, 20, 500))
        mode = chance.choice(list(ShareAcquireMode))
        request = AcquireRequest(member, offset, most, size, mode)
        got = acquire(self.records, headers(*batches), request, self.group, self.now)
        asked = {"member": member, "mode": mode, "size": size, "most": most, "offset": offset}
        self._note("acquire", [list(each) for each in got], batches=[list(batch) for batch in batches], **asked)

    def _acknowledge(self) -> None:
        member, fails, chance = self.chance.choice(MEMBERS), self.chance.random() < 0.15, self.chance
        own = [state for batch in self.records for state in batch.states if state.member_id == member]
        if not own:
            return
        batches: list[AcknowledgementBatch] = []
        for state in sorted(
            chance.sample(own, min(len(own), chance.randrange(1, 4))), key=lambda each: each.first_offset
        ):
            first = chance.randrange(state.first_offset, state.last_offset + 1)
            last = min(first + chance.randrange(0, 15), max(state.last_offset, first) + chance.choice((0, 0, 0, 3)))
            if batches and first <= batches[-1].last_offset:
                continue
            size = chance.choice((1, last - first + 1))
            types = [int(chance.choice(list(AcknowledgeType))) for _ in range(size)]
            batches.append(AcknowledgementBatch(first, last, types))
        try:
            outcome = self._write(acknowledge(self.records, member, batches, self.group, self.now), fails)
        except Refusal as refusal:
            outcome = f"{error_codes.name(refusal.code)} {refusal.message}"
        self._note("acknowledge", outcome, member=member, batches=[list(batch) for batch in batches], fails=fails)

    def _release(self) -> None:
        member, fails = self.chance.choice(MEMBERS), self.chance.random() < 0.15
        outcome = self._write(release(self.records, member, self.group), fails)
        self._note("release", outcome, member=member, fails=fails)

    def _let_time_pass(self) -> None:
        self.now += self.chance.choice((10, 300, 990))
        if time_out(self.records, self.group, self.now):
            advance(self.records)
        self._note("tick", "")

    def _delete(self) -> None:
        later = [first for first, _ in self.log if first > self.records.start_offset]
        if later and not self.has_gaps:
            offset = self.chance.choice(later)
            move_to_log_start(self.records, offset)
            self.log = [each for each in self.log if each[0] >= offset]
            self._note("log start", "", offset=offset)

    def _write(self, changes: list[StateChange], fails: bool) -> str:
        complete(self.records, changes, committed=not fails, now=self.now)
        if changes and not fails:
            advance(self.records)
        return WRITE_FAILED if changes and fails else ""

    def _note(self, operation: str, outcome: Any, **asked: Any) -> None:
        self.questions.append({"op": operation, "now": self.now, **asked})
        records = self.records
        self.answers.append(
            {
                "outcome": outcome,
                "can acquire": records.can_acquire(self.group.partition_max_record_locks),
                "next": records.next_fetch_offset,
                "start": records.start_offset,
                "end": records.end_offset,
                "complete": records.delivery_complete_count,
                "states": [
                    [offset, int(state.state), state.delivery_count, state.member_id]
                    for batch in records
                    for state in batch.states
                    for offset in range(state.first_offset, state.last_offset + 1)
                ],
            }
        )


@pytest.mark.parametrize("seed", range(60))
def test_a_life_is_as_in_kafka(kafka: Witness, seed: int) -> None:
    life = Life(seed)
    for _ in range(STEPS):
        life.step()
    answers = kafka.ask_all(life.questions)
    for step, (question, here, there) in enumerate(zip(life.questions, life.answers, answers, strict=True)):
        assert here == there, (step, question)
