"""The model that a log is compared with: a list of batches. Random operations change both."""

from bisect import bisect, bisect_left

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kafkadouble.server.log.log import AppendRefused, PartitionLog
from kafkadouble.server.log.offset_and_epoch import UNDEFINED
from kafkadouble.wire.batch import BatchHeader, encode_batch, read_header
from kafkadouble.wire.record import Record

from .batches import NOW, idempotent, new_log, offsets, produced


class Batch:
    """What the model knows of one batch."""

    def __init__(
        self, base: int, last: int, size: int, epoch: int, timestamps: list[int], producer: int, sequence: int
    ) -> None:
        self.base, self.last, self.size, self.epoch, self.timestamps = base, last, size, epoch, timestamps
        self.producer, self.sequence = producer, sequence


class LogMachine(RuleBasedStateMachine):
    """A log and its model: `batches` are those that were appended and not truncated, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.log = self.make_log()
        self.batches: list[Batch] = []
        self.start = self.end = self.watermark = 0
        self.epoch = 1
        self.sequences: dict[int, int] = {}
        self.views: list[tuple[memoryview | bytes, bytes]] = []

    def make_log(self) -> PartitionLog:
        return new_log(segment_bytes=15_000)

    @rule(count=st.integers(1, 40), size=st.integers(0, 300), time=st.integers(0, 50), codec=st.sampled_from([0, 0, 4]))
    def produce(self, count: int, size: int, time: int, codec: int) -> None:
        batch = produced(count, size=size, timestamp=NOW + time, compression=codec)
        result = self.log.append_as_leader(batch, leader_epoch=self.epoch, now=NOW)
        assert result.base_offset == self.end
        self._appended(len(batch), count, [NOW + time + index for index in range(count)])

    @rule(producer=st.integers(1, 2), count=st.integers(1, 3))
    def produce_in_sequence(self, producer: int, count: int) -> None:
        sequence = self.sequences.get(producer, 0)
        batch = idempotent(sequence, count, producer=producer)
        result = self.log.append_as_leader(batch, leader_epoch=self.epoch, now=NOW)
        assert not result.duplicate
        self._appended(len(batch), count, [NOW + index for index in range(count)], producer, sequence)
        again = self.log.append_as_leader(batch, leader_epoch=self.epoch, now=NOW)
        assert (again.duplicate, again.base_offset) == (True, result.base_offset)
        with pytest.raises(AppendRefused):
            self.log.append_as_leader(
                idempotent(sequence + count + 1, producer=producer), leader_epoch=self.epoch, now=NOW
            )

    @rule(gap=st.integers(0, 5), count=st.integers(1, 5))
    def replicate(self, gap: int, count: int) -> None:
        self.end += gap
        records = [Record(self.end + index, NOW + index, None, b"v") for index in range(count)]
        batch = encode_batch(records, base_offset=self.end, partition_leader_epoch=self.epoch)
        self.log.append_as_follower(batch, now=NOW)
        self._appended(len(batch), count, [NOW + index for index in range(count)])

    def _appended(self, size: int, count: int, timestamps: list[int], producer: int = -1, sequence: int = -1) -> None:
        self.batches.append(Batch(self.end, self.end + count - 1, size, self.epoch, timestamps, producer, sequence))
        self.end += count
        if producer >= 0:
            self.sequences[producer] = sequence + count

    @rule(step=st.integers(1, 2))
    def new_epoch(self, step: int) -> None:
        self.epoch += step

    @rule(share=st.floats(0, 1))
    def replicated_to(self, share: float) -> None:
        self.watermark = self.start + round((self.end - self.start) * share)
        self.log.high_watermark = self.watermark

    @rule(share=st.floats(0, 1))
    def delete(self, share: float) -> None:
        offset = self.start + round((self.watermark - self.start) * share)
        self.log.delete_records_before(offset)
        self.start = offset

    @rule()
    def retain(self) -> None:
        self.log.retain(NOW)
        assert self.log.log_start_offset == self.start

    @rule(share=st.floats(0, 1))
    def truncate(self, share: float) -> None:
        offset = self.start + round((self.end - self.start) * share)
        self.log.truncate_to(offset)
        self.batches = [batch for batch in self.batches if batch.last < offset]
        self.end, self.watermark = min(self.end, offset), min(self.watermark, offset)
        self.sequences = {}
        for batch in self.batches:
            if batch.producer >= 0 and batch.last >= self.start:
                self.sequences[batch.producer] = batch.sequence + len(batch.timestamps)
        # The model leaves out producers that are known from batches below the start.
        for producer in list(self.log.producers):
            self.sequences.setdefault(producer.producer_id, producer.last_sequence + 1)

    @rule(offset=st.integers(0, 1000))
    @precondition(lambda self: len(self.batches) > 20)
    def restart(self, offset: int) -> None:
        self.log.truncate_fully_and_start_at(offset)
        self.batches, self.sequences = [], {}
        self.start = self.end = self.watermark = offset

    @rule(share=st.floats(0, 1), max_bytes=st.integers(0, 4000), bound=st.floats(0, 1), at_least_one=st.booleans())
    def read(self, share: float, max_bytes: int, bound: float, at_least_one: bool) -> None:
        offset = self.start + round((self.end - self.start) * share)
        upper = self.start + round((self.end - self.start) * bound)
        piece = self.log.read(offset, max_bytes, upper, at_least_one=at_least_one)
        self.views.append((piece.records, bytes(piece.records)))
        due = [batch for batch in self.batches if batch.last >= offset and batch.last < upper]
        found = offsets(piece.records)
        assert found == [number for batch in due for number in range(batch.base, batch.last + 1)][: len(found)]
        assert piece.next_offset == offset or piece.next_offset > found[-1]
        if at_least_one and offset < upper:
            assert bool(found) == bool(due)
        if len(piece.records) > max_bytes:
            assert at_least_one
            assert len(found) == due[0].last + 1 - due[0].base
        left = [batch for batch in due if batch.last >= piece.next_offset]
        if left and offset < upper:
            ends = [segment.base_offset for segment in self.log._storage.segments]
            assert len(piece.records) + left[0].size > max_bytes or left[0].base in ends

    @rule(time=st.integers(-1, 60))
    def look_up(self, time: int) -> None:
        """As in Kafka, only the first segment that is late enough is searched, although all of its
        late records may be below the log start offset."""
        every = [(batch.base + i, t) for batch in self.batches for i, t in enumerate(batch.timestamps)]
        bases = [segment.base_offset for segment in self.log._storage.segments]
        late = [(offset, t) for offset, t in every if t >= NOW + time and offset >= bases[0]]
        due = [row for row in late if row[0] >= self.start and bisect(bases, row[0]) == bisect(bases, late[0][0])]
        found = self.log.offset_for(NOW + time)
        assert (found.offset, found.timestamp) == (due[0] if due else (-1, -1))

    @rule(epoch=st.integers(-1, 12))
    def look_up_epoch(self, epoch: int) -> None:
        end = self.log.end_offset_for_epoch(epoch)
        if end == UNDEFINED:
            return
        later = [batch.base for batch in self.batches if batch.epoch > epoch and batch.last >= self.start]
        earlier = [batch.last for batch in self.batches if batch.epoch <= epoch and batch.last >= self.start]
        assert all(end.offset <= max(base, self.start) for base in later)
        assert all(end.offset > last for last in earlier)

    @invariant()
    def the_same_records(self) -> None:
        log = self.log
        assert (log.log_start_offset, log.log_end_offset, log.high_watermark) == (self.start, self.end, self.watermark)
        headers: list[BatchHeader] = [read_header(batch) for batch in log.batches(self.start)]
        first = bisect_left(self.batches, self.start, key=lambda batch: batch.last)
        assert [(header.base_offset, header.last_offset, header.partition_leader_epoch) for header in headers] == [
            (batch.base, batch.last, batch.epoch) for batch in self.batches[first:]
        ]

    @invariant()
    def views_never_change(self) -> None:
        assert all(view == before for view, before in self.views[-20:])
