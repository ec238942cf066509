"""Memory and files implement one interface: whatever is done to a log in memory and to one in
files, both give the same answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kafkadouble.server.log import memory
from kafkadouble.server.log.aborted_in_fetch import aborted_in_fetch
from kafkadouble.server.log.compaction.cleaner import clean
from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.files.opening import open_log
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.log.refusals import AppendRefused, LogRefused
from kafkadouble.wire.batch import Record, encode_batch, read_header
from tests.server.log.files.lossy_disk import LossyDisk

from .batches import NOW, marker

KEYS = [None, b"a", b"b", b"c"]

SHARES = st.sampled_from([0.0, 0.3, 0.6, 0.9, 1.0])

SETTINGS = st.fixed_dictionaries(
    {
        "cleanup.policy": st.sampled_from(["delete", "compact", "compact,delete"]),
        "segment.bytes": st.sampled_from([250, 700, 1 << 20]),
        "segment.ms": st.sampled_from([10, 1 << 40]),
        "index.interval.bytes": st.sampled_from([0, 200, 4096]),
        "retention.bytes": st.sampled_from([-1, -1, 0, 700]),
        "retention.ms": st.sampled_from([-1, -1, 50]),
        "delete.retention.ms": st.sampled_from([0, 500]),
    }
)


class Storages(RuleBasedStateMachine):
    """One log in memory, one in files."""

    def __init__(self) -> None:
        super().__init__()
        self._patch = pytest.MonkeyPatch()
        self._patch.setattr(memory, "SMALLEST_CHUNK", 300)  # so that a small log has many
        self._patch.setattr(memory, "LARGEST_CHUNK", 600)
        self.now, self.epoch = NOW, 0
        self.sequences: dict[int, int] = {}

    @initialize(given=SETTINGS)
    def begin(self, given: dict[str, Any]) -> None:
        config = LogConfig(given)
        files = open_log(LossyDisk(), "t-0", "t", 0, config, clean=True, recovery_point=0, log_start_offset=0, now=NOW)
        self.logs = PartitionLog("t", 0, config), files

    def teardown(self) -> None:
        self._patch.undo()

    def both(self, do: Callable[[PartitionLog], Any]) -> Any:
        """What comes of it, of both the same."""
        in_memory, in_files = (_outcome(do, log) for log in self.logs)
        assert in_memory == in_files
        return in_memory

    @property
    def log(self) -> PartitionLog:
        return self.logs[0]

    def _between(self, share: float, first: int, last: int) -> int:
        return first + round((last - first) * share)

    @rule(milliseconds=st.sampled_from([0, 1, 11, 1001]))
    def time_passes(self, milliseconds: int) -> None:
        self.now += milliseconds

    @rule(counts=st.lists(st.integers(1, 4), min_size=1, max_size=8), size=st.integers(0, 60), first=st.integers(0, 3))
    def produce(self, counts: list[int], size: int, first: int) -> None:
        for batch_of in counts:
            keys = [KEYS[(first + at) % len(KEYS)] for at in range(batch_of)]
            batch = encode_batch([Record(at, self.now, key, b"v" * size) for at, key in enumerate(keys)])
            self.both(lambda log: log.append_as_leader(batch, self.epoch, self.now))  # noqa: B023  # at once

    @rule(producers=st.lists(st.integers(1, 3), min_size=1, max_size=4), transactional=st.booleans())
    def produce_in_sequence(self, producers: list[int], transactional: bool) -> None:
        for producer in producers:
            batch = encode_batch(
                [Record(0, self.now, b"p%d" % producer, b"v")],
                producer_id=producer,
                producer_epoch=0,
                base_sequence=self.sequences.get(producer, 0),
                is_transactional=transactional,
            )
            outcome = self.both(lambda log: log.append_as_leader(batch, self.epoch, self.now))  # noqa: B023  # at once
            if not isinstance(outcome, str):
                self.sequences[producer] = self.sequences.get(producer, 0) + 1

    @rule(producer=st.integers(1, 3), commit=st.booleans())
    def end_transaction(self, producer: int, commit: bool) -> None:
        batch = marker(commit=commit, producer=producer, timestamp=self.now)
        self.both(lambda log: log.append_own(bytearray(batch), leader_epoch=self.epoch, now=self.now))

    @rule(gap=st.sampled_from([0, 1, 7, 2**31]), count=st.integers(1, 4), key=st.sampled_from(KEYS))
    def replicate(self, gap: int, count: int, key: bytes | None) -> None:
        base = self.log.log_end_offset + gap
        records = [Record(base + at, self.now, key, b"v") for at in range(count)]
        batch = encode_batch(records, base_offset=base, partition_leader_epoch=self.epoch)
        self.both(lambda log: log.append_as_follower(batch, now=self.now))

    @rule()
    def new_epoch(self) -> None:
        self.epoch += 1
        self.both(lambda log: log.begin_epoch(self.epoch))

    @rule(share=SHARES)
    def commit(self, share: float) -> None:
        offset = self._between(share, self.log.high_watermark, self.log.log_end_offset)
        self.both(lambda log: setattr(log, "high_watermark", offset))

    @rule()
    def commit_everything(self) -> None:
        self.both(lambda log: log.commit_all())

    @rule(share=SHARES)
    def delete_records(self, share: float) -> None:
        offset = self._between(share, self.log.log_start_offset, self.log.high_watermark)
        self.both(lambda log: log.delete_records_before(offset))

    @rule()
    def retain(self) -> None:
        self.both(lambda log: log.retain(self.now))

    @rule(share=SHARES, below=st.integers(0, 3))
    def truncate(self, share: float, below: int) -> None:
        offset = self._between(share, max(0, self.log.log_start_offset - below), self.log.log_end_offset)
        self.both(lambda log: log.truncate_to(offset))
        self.sequences = {producer.producer_id: producer.last_sequence + 1 for producer in self.log.producers}

    @rule(further=st.integers(0, 5))
    @precondition(lambda self: len(self.log.segments) > 3)
    def restart(self, further: int) -> None:
        offset = self.log.log_end_offset + further
        self.both(lambda log: log.truncate_fully_and_start_at(offset))
        self.sequences = {}

    @rule(most_keys=st.sampled_from([1, 1000]))
    @precondition(lambda self: self.log.config.compacts)
    def compact(self, most_keys: int) -> None:
        self.both(lambda log: _cleaned(log, self.now, most_keys))

    @rule(max_bytes=st.sampled_from([0, 1, 300, 5000]), at_least_one=st.booleans())
    def read_at_every_offset(self, max_bytes: int, at_least_one: bool) -> None:
        log = self.log
        offsets = {segment.base_offset for segment in log.segments} | {segment.next_offset for segment in log.segments}
        offsets |= {
            int(each.base_offset) + by
            for each in map(read_header, log.batches(log.log_start_offset))
            for by in (-1, 0, 1)
        }
        for offset in sorted(offsets):
            for bound in (log.last_stable_offset, log.log_end_offset):
                self.both(lambda log, *at: _read(log, offset, max_bytes, bound, at_least_one))  # noqa: B023  # at once
                self.both(lambda log: _aborted(log, offset, max_bytes, bound, at_least_one))  # noqa: B023  # at once

    @rule(back=st.integers(-2, 3000))
    def look_up(self, back: int) -> None:
        for timestamp in (self.now - back, -1, -2, -3, -4):
            self.both(lambda log: log.offset_for(timestamp))  # noqa: B023  # at once

    @rule()
    def aborted_transactions(self) -> None:
        log = self.log
        self.both(lambda each: each.aborted_in(log.log_start_offset, log.log_end_offset))

    @invariant()
    def they_say_the_same(self) -> None:
        if hasattr(self, "logs"):
            self.both(_state)


def _outcome(do: Callable[[PartitionLog], Any], log: PartitionLog) -> Any:
    try:
        return do(log)
    except (AppendRefused, LogRefused) as refusal:
        return repr(refusal)


def _cleaned(log: PartitionLog, now: int, most_keys: int) -> Any:
    steps = clean(log, now, most_keys)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def _read(log: PartitionLog, offset: int, max_bytes: int, bound: int, at_least_one: bool) -> Any:
    found = log.read(offset, max_bytes, bound, at_least_one=at_least_one)
    following = next(log.batches(found.next_offset), None)  # a storage may skip missing offsets
    return bytes(found.records), found.offset, None if following is None else read_header(following).base_offset


def _aborted(log: PartitionLog, offset: int, max_bytes: int, bound: int, at_least_one: bool) -> Any:
    found = log.lend(offset, max_bytes, bound, at_least_one=at_least_one)
    return aborted_in_fetch(log, offset, max_bytes, bound, found) if offset < bound else None


def _state(log: PartitionLog) -> Any:
    segments = [
        (
            segment.base_offset,
            segment.next_offset,
            segment.size,
            segment.created if segment.size else None,
            segment.modified,
            segment.first_timestamp,
            segment.max_timestamp,
        )
        for segment in log.segments
    ]
    return {
        "segments": segments,
        "offsets": (log.log_start_offset, log.log_end_offset, log.high_watermark, log.last_stable_offset),
        "size": (log.size, log.modified),
        "epochs": list(log.epochs.entries),
        "producers": sorted(map(_producer, log.producers)),
        "cleaned to": log.cleaned_to,
        "records": b"".join(map(bytes, log.batches(log.log_start_offset))),
    }


def _producer(producer: Any) -> Any:
    return producer.producer_id, producer.last_sequence, [tuple(batch) for batch in producer.batches]


Storages.TestCase.settings = settings(max_examples=150, stateful_step_count=50, deadline=None)
test_memory_and_files_agree = Storages.TestCase
