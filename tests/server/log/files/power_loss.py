"""Lives of one log on a disk that loses what was not flushed when the power goes."""

from __future__ import annotations

from itertools import count
from random import Random

from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.files.opening import open_log
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.log.producers import ProducerStateEntry
from kafkadouble.wire.batch import BatchHeader, decode_all, read_header

from ..batches import NOW, idempotent, marker, produced, transactional
from .lossy_disk import LossyDisk

CONFIG = LogConfig.of({"segment.bytes": 6000, "index.interval.bytes": 300, "retention.ms": -1})


class Life:
    """A log, and every batch that was appended to it, by base offset."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.disk = LossyDisk()
        self.batches: list[tuple[int, bytes]] = []  # the base offset and the stored batch
        self.recovery_point = self.start = 0  # as the checkpoints have them
        self.epoch = 0
        self.sequences: dict[int, int] = {}
        self.producer_epochs: dict[int, int] = {}
        self.newer_epochs = count(1)
        self.open_transactions: set[int] = set()
        self.log = self.open(clean=False)

    def open(self, *, clean: bool) -> PartitionLog:
        return open_log(
            self.disk, "t-0", "t", 0, CONFIG, clean=clean, recovery_point=self.recovery_point,
            log_start_offset=self.start, now=NOW, ends_at=self.ends_at,
        )  # fmt: skip

    def ends_at(self, offset: int) -> None:
        self.recovery_point = min(self.recovery_point, offset)

    def append(self, batch: bytes | bytearray, *, own: bool = False) -> None:
        if own:
            result = self.log.append_own(batch, leader_epoch=self.epoch, now=NOW)
        else:
            result = self.log.append_as_leader(batch, leader_epoch=self.epoch, now=NOW)
        self.log.commit_all()
        assert not result.duplicate
        (stored,) = self.log.batches(result.base_offset)
        self.batches.append((result.base_offset, bytes(stored)))

    def produce(self) -> None:
        count, size = self.random.randint(1, 5), self.random.choice([10, 300, 900])
        self.append(produced(count, size=size, timestamp=NOW + self.random.randrange(1000)))

    def produce_in_sequence(self) -> None:
        producer, count = self.random.randint(1, 3), self.random.randint(1, 4)
        if producer in self.open_transactions:
            return
        sequence, epoch = self.sequences.get(producer, 0), self.producer_epochs.get(producer, 0)
        self.append(idempotent(sequence, count, producer=producer, epoch=epoch))
        self.sequences[producer] = sequence + count

    def transact(self) -> None:
        producer = self.random.randint(11, 13)
        epoch = self.producer_epochs.get(producer, 0)
        if producer in self.open_transactions and self.random.random() < 0.5:
            self.append(marker(commit=self.random.random() < 0.5, producer=producer, epoch=epoch), own=True)
            self.open_transactions.discard(producer)
            return
        sequence = self.sequences.get(producer, 0)
        self.append(transactional(sequence, 2, producer=producer, epoch=epoch))
        self.sequences[producer] = sequence + 2
        self.open_transactions.add(producer)

    def next_epoch(self) -> None:
        self.epoch += 1
        self.log.begin_epoch(self.epoch)

    def flush(self) -> None:
        flush = self.log.unflushed()
        if flush is not None and self.random.random() < 0.9:
            flush.run()
            if self.random.random() < 0.9:
                self.log.flushed(flush.offset)

    def checkpoint(self) -> None:
        self.recovery_point = self.log.recovery_point

    def delete(self) -> None:
        self.log.delete_records_before(self.random.randint(self.log.log_start_offset, self.log.log_end_offset))
        self.start = self.log.log_start_offset  # its checkpoint is written before the response
        self.log.retain(NOW)

    def truncate(self) -> None:
        end = self.log.log_end_offset
        self._cut(self.random.randint(max(self.log.log_start_offset, end - 20), end))
        self.next_epoch()  # a log is only truncated for a new leader
        self.log.commit_all()

    def _cut(self, offset: int) -> None:
        self.log.truncate_to(offset)
        self.batches = [batch for batch in self.batches if read_header(batch[1]).last_offset < self.log.log_end_offset]
        self.relearn()

    def follow(self) -> None:
        """As a follower whose leader has another history: what comes next is of a later epoch."""
        ends = [read_header(batch).next_offset for _, batch in self.batches[-6:]]
        end = self.random.choice([0, *ends])
        if end < self.log.log_start_offset:
            return
        self._cut(end)
        self.epoch += 1
        self.log.commit_all()

    def rewrite(self) -> None:
        """As a compaction that keeps everything."""
        closed = list(self.log.segments[:-1])
        if len(closed) < 2:
            return
        first = self.random.randrange(len(closed))
        group = closed[first : first + self.random.randint(1, 3)]
        rewriting = self.log.rewrite(group)
        for segment in group:
            for batch in segment.batches(0, -(2**63)):
                rewriting.append(batch)
        if self.random.random() < 0.7:
            first, end = group[0].base_offset, group[-1].next_offset
            listed = [each for each in self.log.transactions.aborted if first <= each.last_offset < end]
            self.log.replace_segments(group, rewriting, listed)
        elif self.random.random() < 0.5:
            rewriting.drop()

    def tick(self) -> None:
        self.log.tick(NOW)
        self.log.tick(NOW + CONFIG.file_delete_delay_ms)

    def close_and_open(self) -> None:
        self.log.close()
        self.checkpoint()
        self.log = self.open(clean=True)
        self.log.commit_all()
        self.check(lost=False)

    def lose_power(self) -> None:
        flushed = [each for base, each in self.batches if base < self.log.recovery_point]
        self.disk = self.disk.power_lost(self.random)
        self.log = self.open(clean=False)
        self.log.commit_all()
        self.check(lost=True)
        start = self.log.log_start_offset
        assert {each for each in flushed if read_header(each).last_offset >= start} <= {
            each for _, each in self.batches
        }

    def die(self) -> None:
        """The process ends, the machine does not: nothing is lost."""
        self.disk = self.disk.copy()
        self.log = self.open(clean=False)
        self.log.commit_all()
        self.check(lost=False)

    def check(self, *, lost: bool) -> None:
        log, start = self.log, self.log.log_start_offset
        there = [bytes(batch) for batch in log.batches(start)]
        for batch in there:
            decode_all(batch)
        due = [batch for _, batch in self.batches if read_header(batch).last_offset >= start]
        if lost:
            assert there == due[: len(there)]
            due_here = [batch for batch in self.batches if read_header(batch[1]).last_offset >= start]
            self.batches = [batch for batch in self.batches if batch[1] in there or batch not in due_here]
        else:
            assert there == due
        assert there == [batch for batch in self._by_reads() if read_header(batch).last_offset >= start]
        for batch in there:
            header = read_header(batch)
            assert log.epochs.epoch_for(max(start, header.base_offset)) == header.partition_leader_epoch
            self._check_lookup(header.max_timestamp, there)
        self._check_producers()
        self.relearn()
        self.epoch = max(self.epoch, log.epochs.latest)

    def _check_lookup(self, timestamp: int, there: list[bytes]) -> None:
        """A lookup by time finds the first batch in the first segment that is late enough; nothing
        if that batch is below the log start offset."""
        found = self.log.offset_for(timestamp)
        segment = next(segment for segment in self.log.segments if segment.max_timestamp >= timestamp)
        within = [read_header(batch) for batch in there]
        first = next((each for each in within if each.max_timestamp >= timestamp), None)
        assert first is not None
        if first.base_offset < segment.next_offset:
            assert first.base_offset <= found.offset <= first.last_offset
        else:
            assert found.offset == -1

    def _by_reads(self) -> list[bytes]:
        found, offset = [], self.log.log_start_offset
        while offset < self.log.log_end_offset:
            piece = self.log.read(offset, self.random.choice([1, 700, 5000]))
            records, at = bytes(piece.records), 0
            while at < len(records):
                size = read_header(records, at).size
                found.append(records[at : at + size])
                at += size
            if piece.next_offset == offset:
                break
            offset = piece.next_offset
        return found

    def _check_producers(self) -> None:
        """Compares the producers with the batches. With deleted batches some may be forgotten."""
        if self.start:
            return
        copy = PartitionLog("t", 0)
        for _, batch in self.batches:
            copy.append_as_follower(batch, now=NOW)
        copy.commit_all()
        due = {producer.producer_id: producer for producer in copy.producers}
        for producer in self.log.producers:
            other = due.pop(producer.producer_id)
            assert (producer.epoch, producer.transaction_start) == (other.epoch, other.transaction_start)
            assert producer.last_sequence == other.last_sequence
            assert producer.coordinator_epoch == other.coordinator_epoch
        assert not due
        assert self.log.transactions.aborted == copy.transactions.aborted
        assert self.log.first_unstable_offset == copy.first_unstable_offset

    def relearn(self) -> None:
        """Tells the producers which batches were lost. A producer whose state in the log is not its
        last batch continues in a new epoch, as clients do.
        """
        headers = [read_header(batch) for _, batch in self.batches]
        sent = {header.producer_id: header for header in headers if header.producer_id >= 0 and not header.is_control}
        kept = [producer for producer in self.log.producers if producer.producer_id in sent]
        known = {each.producer_id: each for each in kept if _follows(each, sent[each.producer_id])}
        self.producer_epochs.update({id: next(self.newer_epochs) for id in sent.keys() - known})
        self.producer_epochs.update({id: each.epoch for id, each in known.items()})
        self.sequences = {id: each.last_sequence + 1 for id, each in known.items()}
        self.open_transactions = {id for id, each in known.items() if each.transaction_start >= 0}


def _follows(producer: ProducerStateEntry, last: BatchHeader) -> bool:
    return (producer.epoch, producer.last_sequence) == (last.producer_epoch, last.last_sequence)
