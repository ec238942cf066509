"""The state of idempotent and transactional producers in a log (KIP-98), and the checks of their
next batch.

For each producer id: its epoch, its last five batches (a retry is answered with the old offset),
the timestamp of its last batch, and the start of its open transaction. Rules, as in Kafka 4.4:
sequences are checked for batches of clients only. A producer that is unknown to the log may begin
with any sequence, because UNKNOWN_PRODUCER_ID is no longer used; but with transactions version 2 it
begins with 0 (KIP-890). A new epoch begins with 0. `check` changes nothing, `record` refuses
nothing; the append is between the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.wire.batch_header import BatchHeader

from .refusals import AppendRefused

BATCHES_REMEMBERED = 5
"""How many batches a producer may have in flight (`max.in.flight.requests.per.connection` of an
idempotent producer)."""

NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
LAST_EPOCH = 32767
"""The largest epoch. It only ends transactions: a producer is never given it."""
LAST_SEQUENCE = 2**31 - 1


class AppendOrigin(Enum):
    """The source of a batch. It decides which checks the batch must pass."""

    CLIENT = "client"
    COORDINATOR = "coordinator"
    """This node: offsets, transaction state, transaction markers."""
    REPLICATION = "replication"
    """The leader, which has checked everything already."""
    RAFT = "raft"
    """The leader of the metadata quorum, on this node."""


class BatchMetadata(NamedTuple):
    """One of the last batches of a producer; the sequences are -1 for a batch without."""

    first_sequence: int
    last_sequence: int
    first_offset: int
    last_offset: int
    timestamp: int


class LastRecord(NamedTuple):
    """The state of a producer that compaction keeps: the last offset of its last data batch, -1
    when it has none in its epoch. Then its last marker has the epoch."""

    data_offset: int
    epoch: int


class ProducerStateEntry:
    """The state of one producer id. `coordinator_epoch` is the epoch of the coordinator that wrote
    its last transaction marker. -1 means "none yet" in every field."""

    __slots__ = ("batches", "coordinator_epoch", "epoch", "last_timestamp", "producer_id", "transaction_start")

    def __init__(self, producer_id: int) -> None:
        self.producer_id = producer_id
        self.epoch = NO_PRODUCER_EPOCH
        self.coordinator_epoch = -1
        self.last_timestamp = -1
        self.transaction_start = -1  # the first offset of its open transaction
        # Batches of this epoch only, oldest first, at most BATCHES_REMEMBERED.
        self.batches: list[BatchMetadata] = []

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else -1

    @property
    def last_record(self) -> LastRecord:
        return LastRecord(self.batches[-1].last_offset if self.batches else -1, self.epoch)

    def duplicate_of(self, header: BatchHeader) -> BatchMetadata | None:
        """The remembered batch with exactly these sequences."""
        if header.producer_epoch == self.epoch:
            first, last = header.base_sequence, header.last_sequence
            for batch in self.batches:
                if batch.first_sequence == first and batch.last_sequence == last:
                    return batch
        return None

    def enter_epoch(self, epoch: int) -> None:
        """Goes to this epoch. The batches of another epoch are forgotten."""
        if epoch != self.epoch:
            self.epoch = epoch
            self.batches.clear()

    def add(self, batch: BatchMetadata) -> None:
        if len(self.batches) == BATCHES_REMEMBERED:
            del self.batches[0]
        self.batches.append(batch)
        self.last_timestamp = batch.timestamp

    def copy(self) -> ProducerStateEntry:
        """The same state, which changes on its own."""
        made = ProducerStateEntry(self.producer_id)
        made.epoch, made.coordinator_epoch = self.epoch, self.coordinator_epoch
        made.last_timestamp, made.transaction_start = self.last_timestamp, self.transaction_start
        made.batches = list(self.batches)
        return made

    def __repr__(self) -> str:
        transaction = f", transaction open from {self.transaction_start}" if self.transaction_start >= 0 else ""
        return f"Producer {self.producer_id} of epoch {self.epoch}, last sequence {self.last_sequence}{transaction}"


class VerificationStateEntry:
    """A transaction while the coordinator verifies that this partition is part of it (KIP-890)."""

    __slots__ = ("begins_at_zero", "epoch", "lowest_sequence", "since")

    def __init__(self, sequence: int, epoch: int, begins_at_zero: bool, now: int) -> None:
        self.lowest_sequence, self.epoch, self.begins_at_zero, self.since = sequence, epoch, begins_at_zero, now

    def seen(self, sequence: int, epoch: int) -> None:
        """Another batch of the producer waits for the same answer."""
        if epoch > self.epoch or (epoch == self.epoch and sequence < self.lowest_sequence):
            self.epoch, self.lowest_sequence = epoch, sequence


NOT_REQUIRED = VerificationStateEntry(0, 0, False, 0)
"""Stands for the verification of a batch that needs none."""


class Producers:
    """All producers that one log knows, by id."""

    __slots__ = ("_producers", "_verifications")

    def __init__(self) -> None:
        self._producers: dict[int, ProducerStateEntry] = {}
        self._verifications: dict[int, VerificationStateEntry] = {}

    def get(self, producer_id: int) -> ProducerStateEntry | None:
        return self._producers.get(producer_id)

    def duplicate_of(self, header: BatchHeader) -> BatchMetadata | None:
        """The remembered batch that the client sends again, if it is one of the last five."""
        producer = self._producers.get(header.producer_id)
        return producer.duplicate_of(header) if producer is not None else None

    def check(self, header: BatchHeader, origin: AppendOrigin) -> None:
        """Raises AppendRefused unless this data batch may be the producer's next.

        INVALID_PRODUCER_EPOCH for a fenced epoch, OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_TXN_STATE
        for a batch outside of the producer's open transaction.
        """
        if origin is AppendOrigin.REPLICATION:
            return
        producer = self._producers.get(header.producer_id)
        if producer is not None and header.producer_epoch < producer.epoch:
            raise self._fenced(header, producer, "older than")
        if origin is AppendOrigin.CLIENT:
            self._check_sequence(header, producer)
        if producer is not None and producer.transaction_start >= 0 and not header.is_transactional:
            raise AppendRefused(
                error_codes.INVALID_TXN_STATE,
                f"producer {header.producer_id} wrote outside of the transaction that it opened at {producer.transaction_start}",
            )

    def _check_sequence(self, header: BatchHeader, producer: ProducerStateEntry | None) -> None:
        sequence = header.base_sequence
        verification = self._verifications.get(header.producer_id)
        if verification is not None:
            if verification.begins_at_zero and sequence != 0 and (producer is None or not producer.batches):
                raise _out_of_order(header, "0, the first of a producer of transactions version 2")
            if sequence > verification.lowest_sequence:
                raise _out_of_order(header, f"{verification.lowest_sequence}, which came earlier")
        if producer is None or producer.epoch == NO_PRODUCER_EPOCH:
            return
        if header.producer_epoch != producer.epoch:
            if sequence != 0:
                raise _out_of_order(header, f"0, the first of epoch {header.producer_epoch}")
        elif sequence != (expected := 0 if producer.last_sequence == LAST_SEQUENCE else producer.last_sequence + 1):
            raise _out_of_order(header, str(expected))

    @staticmethod
    def _fenced(header: BatchHeader, producer: ProducerStateEntry, how: str) -> AppendRefused:
        return AppendRefused(
            error_codes.INVALID_PRODUCER_EPOCH,
            f"epoch {header.producer_epoch} of producer {header.producer_id} is {how} its last one here, {producer.epoch}",
        )

    def record(self, header: BatchHeader, base_offset: int, timestamp: int) -> ProducerStateEntry:
        """Records a data batch that was appended at `base_offset`, and returns its producer."""
        producer = self._entry(header.producer_id)
        producer.enter_epoch(header.producer_epoch)
        last_offset = base_offset + header.last_offset_delta
        producer.add(BatchMetadata(header.base_sequence, header.last_sequence, base_offset, last_offset, timestamp))
        return producer

    def check_marker(self, header: BatchHeader, coordinator_epoch: int, transaction_version: int) -> None:
        """Raises AppendRefused unless this transaction marker may be written.

        With transactions version 2 a marker has a newer epoch than the data of its transaction. A
        retried marker, after the transaction has ended, is accepted (KIP-890, KIP-1228).
        """
        producer = self._producers.get(header.producer_id)
        if producer is None:
            return
        epoch, bumped = header.producer_epoch, transaction_version >= 2
        if epoch < producer.epoch:
            raise self._fenced(header, producer, "older than")
        if bumped and epoch == producer.epoch and producer.transaction_start >= 0 and epoch != LAST_EPOCH:
            raise self._fenced(header, producer, "no newer than")
        if coordinator_epoch < producer.coordinator_epoch:
            raise AppendRefused(
                error_codes.TRANSACTION_COORDINATOR_FENCED,
                f"coordinator epoch {coordinator_epoch} of producer {header.producer_id} is older than {producer.coordinator_epoch}",
            )

    def record_marker(self, header: BatchHeader, coordinator_epoch: int, timestamp: int) -> int:
        """Records a transaction marker that was appended. Returns the first offset of the
        transaction that it ends, -1 when none was open."""
        producer = self._entry(header.producer_id)
        producer.enter_epoch(header.producer_epoch)
        producer.coordinator_epoch, producer.last_timestamp = coordinator_epoch, timestamp
        started, producer.transaction_start = producer.transaction_start, -1
        return started

    def _entry(self, producer_id: int) -> ProducerStateEntry:
        producer = self._producers.get(producer_id)
        if producer is None:
            producer = self._producers[producer_id] = ProducerStateEntry(producer_id)
        return producer

    def verify(
        self, producer_id: int, sequence: int, epoch: int, begins_at_zero: bool, now: int
    ) -> VerificationStateEntry | None:
        """Begins to verify with the coordinator that this log is part of the producer's
        transaction; None if that transaction is open here already. Until the producer's batch is
        appended, no later batch may overtake it. Raises AppendRefused for a fenced epoch."""
        producer = self._producers.get(producer_id)
        if producer is not None and producer.transaction_start >= 0 and producer.epoch == epoch:
            return None
        if producer is not None and epoch < producer.epoch:
            raise AppendRefused(
                error_codes.INVALID_PRODUCER_EPOCH,
                f"epoch {epoch} of producer {producer_id} is older than its last one here, {producer.epoch}",
            )
        verification = self._verifications.get(producer_id)
        if verification is None:
            verification = self._verifications[producer_id] = VerificationStateEntry(
                sequence, epoch, begins_at_zero, now
            )
        else:
            verification.seen(sequence, epoch)
        return verification

    def check_verified(self, header: BatchHeader, verification: VerificationStateEntry | None) -> None:
        """Raises AppendRefused(INVALID_TXN_STATE) for a transactional batch that was not verified,
        or whose transaction ended since (KIP-890)."""
        if verification is NOT_REQUIRED or not header.is_transactional:
            return
        producer = self._producers.get(header.producer_id)
        if producer is not None and producer.transaction_start >= 0 and producer.epoch == header.producer_epoch:
            return
        if verification is None or self._verifications.get(header.producer_id) is not verification:
            raise AppendRefused(
                error_codes.INVALID_TXN_STATE,
                f"the transaction of producer {header.producer_id} does not have this partition, or has ended",
            )

    def verified(self, header: BatchHeader) -> None:
        """A transactional batch was appended: its verification is over, except when a marker meets
        the next transaction of its own epoch."""
        verification = self._verifications.get(header.producer_id)
        if verification is None:
            return
        next_began = verification.begins_at_zero and header.is_control and header.producer_epoch == verification.epoch
        if not next_began:
            del self._verifications[header.producer_id]

    def expire(self, now: int, expiration_ms: int) -> list[int]:
        """Forgets the producers that wrote nothing for `producer.id.expiration.ms` and has no open
        transaction; returns their ids."""
        expired = [
            producer.producer_id
            for producer in self._producers.values()
            if producer.transaction_start < 0 and now - producer.last_timestamp >= expiration_ms
        ]
        for producer_id in expired:
            del self._producers[producer_id]
        stale = [each for each, waiting in self._verifications.items() if now - waiting.since >= expiration_ms]
        for producer_id in stale:
            del self._verifications[producer_id]
        return expired

    def restore(self, producers: Iterable[ProducerStateEntry]) -> None:
        """Replaces everything by the content of a snapshot."""
        self._producers = {producer.producer_id: producer for producer in producers}

    def clear(self) -> None:
        self._producers.clear()

    def __iter__(self) -> Iterator[ProducerStateEntry]:
        return iter(self._producers.values())

    def __len__(self) -> int:
        return len(self._producers)

    def __repr__(self) -> str:
        return f"{len(self._producers)} producers"


def _out_of_order(header: BatchHeader, expected: str) -> AppendRefused:
    return AppendRefused(
        error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER,
        f"sequence {header.base_sequence} of producer {header.producer_id}, epoch {header.producer_epoch}, where {expected} is due",
    )
