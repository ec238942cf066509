"""The two things that batches with a producer id change in a log, kept in step: the producers and
their transactions (KIP-98).
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkadouble.messages import error_codes
from kafkadouble.wire.batch import BatchHeader, read_header
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.errors import WireError

from .marker import EndTransactionMarker, read_marker
from .producers import (
    NOT_REQUIRED,
    AppendOrigin,
    BatchMetadata,
    Producers,
    ProducerStateEntry,
    VerificationStateEntry,
)
from .refusals import AppendRefused
from .transactions import AbortedTransaction, Transactions


class ProducerStateManager:
    """`check` a batch, append it, `record` it; or `rebuild` everything from the log."""

    __slots__ = ("producers", "transactions")

    def __init__(self) -> None:
        self.producers = Producers()
        self.transactions = Transactions()

    def check(
        self,
        header: BatchHeader,
        batch: Buffer,
        origin: AppendOrigin,
        transaction_version: int,
        verification: VerificationStateEntry | None = NOT_REQUIRED,
    ) -> BatchMetadata | None:
        """Raises AppendRefused unless the batch may be appended. For a retry of a client, return
        the batch that was appended before."""
        if header.is_control:
            marker = _marker(batch)
            if marker is not None:
                self.producers.check_marker(header, marker.coordinator_epoch, transaction_version)
            return None
        if origin is AppendOrigin.CLIENT:
            duplicate = self.producers.duplicate_of(header)
            if duplicate is not None:
                return duplicate
        self.producers.check_verified(header, verification)
        self.producers.check(header, origin)
        return None

    def record(self, header: BatchHeader, batch: Buffer, base_offset: int, timestamp: int) -> AbortedTransaction | None:
        """Records a batch that was appended at `base_offset`; `timestamp` is its largest. Returns
        the transaction that it aborted."""
        aborted = None
        if header.is_control:
            aborted = self._end(header, batch, base_offset, listed=True)
        else:
            self._add(header, base_offset, timestamp)
        if header.is_transactional:
            self.producers.verified(header)
        return aborted

    def _add(self, header: BatchHeader, base_offset: int, timestamp: int) -> None:
        producer = self.producers.record(header, base_offset, timestamp)
        if header.is_transactional and producer.transaction_start < 0:
            producer.transaction_start = base_offset
            self.transactions.begin(producer.producer_id, base_offset)

    def _end(self, header: BatchHeader, batch: Buffer, offset: int, *, listed: bool) -> AbortedTransaction | None:
        marker = _marker(batch)
        if marker is None:
            return None
        first = self.producers.record_marker(header, marker.coordinator_epoch, marker.timestamp)
        if first < 0:
            return None
        return self.transactions.end(header.producer_id, first, offset, marker.aborted and listed)

    def rebuild(self, end: int, kept: Iterable[ProducerStateEntry], batches: Iterable[memoryview]) -> None:
        """The log was truncated to `end`: rebuild the producers from the snapshot `kept` and the
        batches after it. Aborted transactions below `end` stay listed, because the first records of
        some may have been deleted."""
        self.transactions.truncate(end)
        self.restore(kept)
        self.replay(batches)

    def restore(self, kept: Iterable[ProducerStateEntry]) -> None:
        """Replaces everything by these producers and their open transactions."""
        self.producers.restore(kept)
        begun = sorted((producer.transaction_start, producer.producer_id) for producer in self.producers)
        for first, producer_id in begun:
            if first >= 0:
                self.transactions.begin(producer_id, first)

    def forget_transaction(self, producer: ProducerStateEntry) -> None:
        """The transaction that seemed to be open has ended."""
        producer.transaction_start = -1
        self.transactions.forget(producer.producer_id)

    def replay(self, batches: Iterable[memoryview]) -> None:
        """Record batches whose aborted transactions are listed already."""
        for batch in batches:
            header = read_header(batch)
            if header.producer_id < 0:
                continue
            if header.is_control:
                self._end(header, batch, header.base_offset, listed=False)
            else:
                self._add(header, header.base_offset, header.max_timestamp)

    def copy(self) -> ProducerStateManager:
        """The same producers and transactions, which change on their own. No transaction is being
        verified: the requests that wait for that are not in a log."""
        made = ProducerStateManager()
        made.producers.restore(producer.copy() for producer in self.producers)
        made.transactions = self.transactions.copy()
        return made

    def clear(self) -> None:
        """Forgets everything."""
        self.producers.clear()
        self.transactions = Transactions()

    def __repr__(self) -> str:
        return f"{self.producers!r}, {self.transactions!r}"


def _marker(batch: Buffer) -> EndTransactionMarker | None:
    try:
        return read_marker(batch)
    except WireError as problem:
        raise AppendRefused(error_codes.UNKNOWN_SERVER_ERROR, str(problem)) from problem
