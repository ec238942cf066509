"""Random histories of a compacted log: transactions, tombstones, rolls, cleanings, truncations,
deleted records and restarts, in memory and in files. Whatever was cleaned, a reader finds the last
committed value of every key, and what is kept beside the batches is true of them.

The model is `plain_log`. Hypothesis prints the steps of a history that fails, and how to run it
again; `make fuzz` plays thousands.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.files.opening import open_log
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.log.storage import ANY_TIMESTAMP
from kafkadouble.wire.batch import Record, decode_records, encode_batch, iter_batches, read_header
from tests.server.log.batches import NOW, in_memory, marker
from tests.server.log.files.lossy_disk import LossyDisk

from .compacted_log import cleaned
from .plain_log import PlainBatch, PlainLog, PlainRecord

KEYS = st.sampled_from([b"a", b"b", b"c", b"d"])
VALUES = st.one_of(st.none(), st.integers(0, 99).map(b"%d".__mod__))
PRODUCERS = st.integers(1, 3)
SHARES = st.sampled_from([0.0, 0.3, 0.6, 1.0])
SETTINGS = st.fixed_dictionaries(
    {
        "segment.bytes": st.sampled_from([200, 500, 1500]),
        "index.interval.bytes": st.sampled_from([0, 150, 4096]),
        "delete.retention.ms": st.sampled_from([0, 0, 500]),
    }
)


class Histories(RuleBasedStateMachine):
    """A compacted log in memory, and its model."""

    log: PartitionLog

    def __init__(self) -> None:
        super().__init__()
        self.now, self.epoch = NOW, 0
        self.plain = PlainLog()
        self.epochs = dict.fromkeys((1, 2, 3), 0)
        self.in_transaction: set[int] = set()
        # Producers whose last batch the log must know.
        self.known: set[int] = set()
        # A killed process came back, and a transaction has been open since.
        self.recovered_open = False

    @initialize(given=SETTINGS)
    def begin(self, given: dict[str, Any]) -> None:
        self.config = LogConfig({"cleanup.policy": "compact", **given})
        self.log = self.make_log()

    def make_log(self) -> PartitionLog:
        return in_memory(self.config)

    def _records(self, pairs: list[tuple[bytes, bytes | None]]) -> tuple[PlainRecord, ...]:
        return tuple(PlainRecord(self.plain.end + at, self.now, *pair) for at, pair in enumerate(pairs))

    def _append(self, batch: PlainBatch) -> None:
        records = [Record(at, record.timestamp, record.key, record.value) for at, record in enumerate(batch.records)]
        data = encode_batch(
            records,
            producer_id=batch.producer,
            producer_epoch=batch.epoch if batch.producer >= 0 else -1,
            base_sequence=batch.sequence,
            is_transactional=batch.is_transactional,
        )
        result = self.log.append_as_leader(data, self.epoch, self.now)
        assert (result.base_offset, result.duplicate) == (batch.base, False)
        self.plain.append(batch, self.epoch)

    @rule(pairs=st.lists(st.tuples(KEYS, VALUES), min_size=1, max_size=4))
    def produce(self, pairs: list[tuple[bytes, bytes | None]]) -> None:
        self._append(PlainBatch(self._records(pairs)))

    @rule(
        pairs=st.lists(st.tuples(KEYS, VALUES), min_size=1, max_size=3),
        producer=PRODUCERS,
        in_one=st.sampled_from([True, True, False]),
    )
    def produce_in_sequence(self, pairs: list[tuple[bytes, bytes | None]], producer: int, in_one: bool) -> None:
        known = self.log.producers.get(producer)
        sequence = 0 if known is None or known.epoch != self.epochs[producer] else known.last_sequence + 1
        is_transactional = in_one or producer in self.in_transaction
        self._append(PlainBatch(self._records(pairs), producer, sequence, self.epochs[producer], is_transactional))
        self.known.add(producer)
        if is_transactional:
            self.in_transaction.add(producer)

    @rule(choice=st.integers(0, 2), commits=st.booleans(), with_new_epoch=st.booleans())
    @precondition(lambda self: self.in_transaction)
    def end_transaction(self, choice: int, commits: bool, with_new_epoch: bool) -> None:
        self._end(sorted(self.in_transaction)[choice % len(self.in_transaction)], commits, with_new_epoch)

    def _end(self, producer: int, commits: bool, with_new_epoch: bool) -> None:
        self.epochs[producer] += with_new_epoch
        epoch = self.epochs[producer]
        batch = marker(commit=commits, producer=producer, epoch=epoch, timestamp=self.now)
        self.log.append_own(batch, leader_epoch=self.epoch, now=self.now, transaction_version=2 * with_new_epoch)
        self.plain.append(PlainBatch((), producer, -1, epoch, True, commits, self.plain.end), self.epoch)
        self.in_transaction.discard(producer)

    @rule(
        whole=st.lists(st.tuples(PRODUCERS, KEYS, VALUES, st.booleans()), min_size=1, max_size=4),
        with_new_epoch=st.booleans(),
    )
    def whole_transactions(self, whole: list[tuple[int, bytes, bytes | None, bool]], with_new_epoch: bool) -> None:
        for producer, key, value, commits in whole:
            self.produce_in_sequence([(key, value)], producer, True)
            self._end(producer, commits, with_new_epoch)

    @rule(milliseconds=st.sampled_from([1, 501]))
    def time_passes(self, milliseconds: int) -> None:
        self.now += milliseconds

    @rule()
    def new_epoch(self) -> None:
        self.epoch += 1
        self.log.begin_epoch(self.epoch)
        self.plain.begin_epoch(self.epoch)

    def _ends_from(self, offset: int) -> list[int]:
        """Where batches end, from `offset` on."""
        return sorted({offset, *(batch.last + 1 for batch in self.plain.batches if batch.last >= offset)})

    @rule(share=SHARES)
    def replicated(self, share: float) -> None:
        ends = self._ends_from(self.plain.watermark)
        self.plain.watermark = ends[round((len(ends) - 1) * share)]
        self.log.high_watermark = self.plain.watermark

    @rule()
    def roll(self) -> None:
        self.log.roll()

    @rule(most_keys=st.sampled_from([1, 1000]))
    def clean(self, most_keys: int) -> None:
        self.log.roll()
        cleaned(self.log, self.now, most_keys)

    @rule(rounds=st.integers(1, 4))
    def replicate_and_clean(self, rounds: int) -> None:
        """Several times, each with something new to clean."""
        self.replicated(1.0)
        for _ in range(rounds):
            self.now += 1
            self.produce([(b"filler", b"")])
            self.replicated(1.0)
            self.clean(1000)

    @rule(share=SHARES)
    def truncate(self, share: float) -> None:
        """Only what was not replicated."""
        ends = self._ends_from(self.plain.watermark)
        offset = ends[round((len(ends) - 1) * share)]
        cut = {batch.producer for batch in self.plain.batches if batch.last >= offset}
        self.log.truncate_to(offset)
        self.plain.truncate(offset)
        self._look_at_producers(cut)

    def _look_at_producers(self, cut: set[int]) -> None:
        """Of a producer that lost its last batch, an earlier one may have been removed."""
        self.known -= cut
        self.in_transaction = {data[0].producer for data, end in self.plain.transactions() if end is None}
        for producer in cut & set(self.epochs):
            known = self.log.producers.get(producer)
            self.epochs[producer] = max(self.epochs[producer] if known is None else known.epoch, 0)

    @rule(share=st.sampled_from([0.1, 0.3, 1.0]), with_segments=st.booleans())
    def delete_records(self, share: float, with_segments: bool) -> None:
        offset = self.plain.start + round((self.plain.watermark - self.plain.start) * share)
        self.log.delete_records_before(offset)
        self.plain.delete_before(offset)
        if with_segments:
            self.log.delete_old_segments()

    @invariant()
    def readers_see_the_last_value_of_every_key(self) -> None:
        if not self.plain.batches:
            return
        log, plain = self.log, self.plain
        for end, committed in ((log.last_stable_offset, True), (log.log_end_offset, False)):
            found = list(_seen(log, end, committed=committed))
            appended = {record.offset: record for record in plain.records(end)}
            assert all(appended.get(each.offset) == each for each in found)
            if committed:
                assert not plain.aborted() & {each.offset for each in found}
            else:
                found = [each for each in found if each.offset not in plain.aborted()]
            last = {each.key: each for each in found}
            assert _values(last) == _values(plain.table(end))

    @invariant()
    def dirty_part_is_whole(self) -> None:
        """A cleaning takes whole segments, so it may remove replicated records of aborted
        transactions from the dirty part, too. A truncation can make such a segment the active one.
        """
        if not self.plain.batches:
            return
        first = max(self.log.segments[-1].base_offset, self.log.cleaned_to, self.plain.start)
        aborted = {offset for offset in self.plain.aborted() if offset < self.plain.watermark}
        read = [record.offset for record in _seen(self.log, self.log.log_end_offset, committed=False)]
        appended = [record.offset for record in self.plain.records(self.plain.end)]
        kept = [offset for offset in read if offset >= first and offset not in aborted]
        assert kept == [offset for offset in appended if offset >= first and offset not in aborted]

    @invariant()
    def the_offsets_are_right(self) -> None:
        """A recovery reads producers from a snapshot. If the cleaner has removed the marker behind
        it, a producer that is in a transaction seems to be in it since before the log start, as in
        Kafka: the last stable offset is too low until this transaction ends."""
        if not self.plain.batches:
            return
        log, plain = self.log, self.plain
        assert (log.log_start_offset, log.log_end_offset, log.high_watermark) == (
            plain.start,
            plain.end,
            plain.watermark,
        )
        assert [(entry.offset, entry.epoch) for entry in log.epochs.entries] == plain.epochs
        first = plain.first_unstable
        if first is None:
            self.recovered_open = False
            assert log.last_stable_offset == plain.watermark
        elif first >= plain.start:
            lowest = plain.start if self.recovered_open else first
            assert min(lowest, plain.watermark) <= log.last_stable_offset <= min(first, plain.watermark)

    @invariant()
    def the_last_batch_of_a_producer_is_known(self) -> None:
        for producer in self.known:
            batch, state = self.plain.last_of(producer), self.log.producers.get(producer)
            if batch is None or batch.last < self.plain.start:
                continue
            assert state is not None
            assert state.epoch >= batch.epoch
            if state.epoch == batch.epoch:
                known = state.batches[-1]
                assert (known.last_sequence, known.last_offset) == (
                    batch.sequence + len(batch.records) - 1,
                    batch.last,
                )
                assert state.last_timestamp >= batch.records[-1].timestamp
            assert (state.transaction_start >= 0) == (producer in self.in_transaction)

    @invariant()
    def segments_say_what_is_in_them(self) -> None:
        if not self.plain.batches:
            return
        for segment in self.log.segments:
            headers = [read_header(batch) for batch in segment.batches(segment.base_offset, ANY_TIMESTAMP)]
            assert segment.size == sum(header.size for header in headers)
            assert segment.max_timestamp == max((header.max_timestamp for header in headers), default=-1)
            assert segment.next_offset == (headers[-1].next_offset if headers else segment.base_offset)
            assert not headers or segment.first_timestamp == headers[0].max_timestamp
            assert all(header.base_offset >= segment.base_offset for header in headers)


def _values(table: dict[bytes, PlainRecord]) -> dict[bytes, PlainRecord]:
    """Without tombstones: they may have been removed, together with all before them."""
    return {key: record for key, record in table.items() if record.value is not None}


def _seen(log: PartitionLog, end: int, *, committed: bool) -> Iterator[PlainRecord]:
    """What a consumer makes of fetches up to `end`, by the rules of Kafka's clients."""
    offset = log.log_start_offset
    while offset < end:
        piece = log.read(offset, 300, end)
        if not len(piece.records):
            return
        to_come = sorted(log.aborted_in(offset, piece.next_offset), key=lambda each: each.first_offset)
        skipped: set[int] = set()
        for position, header in iter_batches(piece.records):
            batch = memoryview(piece.records)[position : position + header.size]
            while to_come and to_come[0].first_offset <= header.last_offset:
                skipped.add(to_come.pop(0).producer_id)
            if header.is_control:
                if any(record.key == b"\x00\x00\x00\x00" for record in decode_records(batch)):
                    skipped.discard(header.producer_id)
            elif not (committed and header.is_transactional and header.producer_id in skipped):
                for record in decode_records(batch):
                    if record.offset >= offset:
                        yield PlainRecord(record.offset, record.timestamp, record.key or b"", record.value)
        offset = piece.next_offset


class HistoriesInFiles(Histories):
    """The same in files, which are also closed and opened again, or left by a process that was
    killed."""

    def make_log(self) -> PartitionLog:
        self.disk = LossyDisk()
        return self._opened(clean=True, recovery_point=0, start=0)

    def _opened(self, *, clean: bool, recovery_point: int, start: int) -> PartitionLog:
        return open_log(
            self.disk, "t-0", "t", 0, self.config, clean=clean, recovery_point=recovery_point, log_start_offset=start,
            now=self.now, compacted=True,
        )  # fmt: skip

    @rule()
    def flush(self) -> None:
        flush = self.log.unflushed()
        if flush is not None:
            flush.run()
            self.log.flushed(flush.offset)

    @rule(is_killed=st.booleans(), from_zero=st.booleans())
    def restart(self, is_killed: bool, from_zero: bool) -> None:
        first = self.plain.first_unstable
        if first is not None and first < self.plain.start:
            return
        cleaned_to = self.log.cleaned_to
        recovery_point = 0 if from_zero else self.log.recovery_point
        if is_killed:
            self.recovered_open = True
            self.disk = self.disk.copy()
        else:
            self.log.close()
            recovery_point = self.log.recovery_point
        self.log = self._opened(clean=not is_killed, recovery_point=recovery_point, start=self.plain.start)
        self.log.cleaned_to = cleaned_to
        self.plain.epochs = [epoch for epoch in self.plain.epochs if epoch[0] < self.plain.end]
        if self.plain.start == self.plain.end:  # the epoch of the last batch may be known again
            self.plain.epochs = [(entry.offset, entry.epoch) for entry in self.log.epochs.entries]
        self.plain.watermark = self.log.high_watermark = self.plain.end
        self._look_at_producers(set())


OFTEN = settings(
    max_examples=int(os.environ.get("KAFKADOUBLE_HISTORIES", "70")),
    stateful_step_count=40,
    deadline=None,
    print_blob=True,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # a shorter history takes minutes to find
)

Histories.TestCase.settings = HistoriesInFiles.TestCase.settings = OFTEN
test_compacted_histories_in_memory = Histories.TestCase
test_compacted_histories_in_files = HistoriesInFiles.TestCase
