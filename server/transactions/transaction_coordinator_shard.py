"""The transactional ids of one partition of `__transaction_state` (KIP-98).

A change of an id is one record. While the record is not committed, the change is pending, and other
requests for the id get CONCURRENT_TRANSACTIONS; a change that cannot be written is dropped. A
commit or an abort is written twice: as decided, after which the markers are sent, and as complete,
when every partition has its marker. A shard that is loaded sends the markers of what was decided
again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.transaction_log_record import TransactionLogKey, TransactionLogValue
from kafkadouble.messages.message import Message

from ..coordinator.coordinator_record import CoordinatorRecord
from ..coordinator.coordinator_shard import CoordinatorShard
from ..metadata.features import TRANSACTION_VERSION
from ..requests.request import Refusal
from ..requests.waiting import SLICE
from .add_partitions import add_partitions
from .end_transaction import EPOCH_BUMP_FROM, EndOfTransaction, end_transaction
from .init_producer_id import ProducerIdAndEpoch, init_producer_id
from .pending_complete_txn import PendingCompleteTxn
from .transaction_log import metadata_of, tombstone, transaction_record
from .transaction_metadata import (
    TopicPartition,
    TransactionalIdEntry,
    TransactionMetadata,
    prepare_complete,
    prepare_dead,
    prepare_fence_producer_epoch,
)
from .transaction_state import BETWEEN_TRANSACTIONS, ONGOING, PREPARE_COMMIT, PREPARED

if TYPE_CHECKING:
    from ..coordinator.host import CoordinatorHost
    from ..replica.replication.partition import Partition
    from ..requests.timers import Timer
    from .transaction_marker_channel_manager import TransactionMarkerChannelManager

Then = Callable[[int], None]
"""Called once with 0, or with the error code that says why a change was not written."""

NO_TIMEOUT = 2**31 - 1
"""The time-out of a transaction that is never aborted (KIP-939)."""

NEXT_SLICE = "the next slice of expired ids"
"""The name of the timer."""

RETRY_MS = 100
"""The pause before the end of a transaction is written again."""


class TransactionCoordinatorShard(CoordinatorShard):
    """The transactional ids of one partition."""

    commit_timeout_setting = "request.timeout.ms"
    tolerates_damage = True

    def __init__(self, node: CoordinatorHost, partition: Partition, markers: TransactionMarkerChannelManager) -> None:
        super().__init__(node, partition)
        self.entries: dict[str, TransactionalIdEntry] = {}
        self._markers = markers
        self._timers: dict[str, Timer] = {}

    @property
    def coordinator_epoch(self) -> int:
        """The partition's leader epoch, by which the leaders of other partitions refuse the markers
        of an outdated coordinator."""
        return self.partition.leader_epoch

    @property
    def transaction_version(self) -> int:
        """The finalized level of `transaction.version`."""
        return self.node.image.features.get(TRANSACTION_VERSION, 0)

    # Loading.

    def replay(self, offset: int, producer_id: int, key: Message, value: Message | None) -> None:
        if not isinstance(key, TransactionLogKey):
            return
        if value is None:
            self.entries.pop(key.transactional_id, None)
        elif isinstance(value, TransactionLogValue):
            entry = TransactionalIdEntry(key.transactional_id, metadata_of(value))
            self.entries[key.transactional_id] = entry

    def replay_end_transaction_marker(self, producer_id: int, committed: bool) -> None:
        """The topic has no markers."""

    def on_loaded(self) -> None:
        for entry in self.entries.values():
            if entry.metadata.state in PREPARED:
                self._send_markers(entry)
        self._repeat("transaction.abort.timed.out.transaction.cleanup.interval.ms", self.abort_timed_out)
        self._repeat("transaction.remove.expired.transaction.cleanup.interval.ms", self.remove_expired)

    def _repeat(self, setting: str, action: Callable[[], None]) -> None:
        def due(now: int) -> None:
            self._repeat(setting, action)
            action()

        self._timers[setting] = self.schedule(self.node.settings.int(setting), due)

    def on_unloaded(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    # Requests.

    def init_producer_id(
        self, transactional_id: str, timeout_ms: int, expected: ProducerIdAndEpoch | None, then: Then
    ) -> TransactionMetadata | None:
        """Begins a producer; the state that it gets, valid when `then(0)` is called. None if an
        open transaction must be aborted first: then the client must repeat its request. Raises
        Refusal."""
        entry = self.entries.get(transactional_id)
        if entry is None:
            created = TransactionMetadata(
                self._next_producer_id(), txn_timeout_ms=timeout_ms, txn_last_update_timestamp=self.now
            )
            entry = self.entries[transactional_id] = TransactionalIdEntry(transactional_id, created)
        following = init_producer_id(entry, expected, timeout_ms, self._next_producer_id, self.now)
        if following is None:
            self._fence(entry, then)
        else:
            self._transition(entry, following, then)
        return following

    def add_partitions(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        partitions: Collection[TopicPartition],
        client_version: int,
        then: Then,
    ) -> None:
        """Adds partitions to the transaction. Raises Refusal."""
        entry = self.entry(transactional_id)
        following = add_partitions(entry, producer, partitions, client_version, self.now)
        if following is None:
            then(error_codes.NONE)
        else:
            self._transition(entry, following, then)

    def end(self, transactional_id: str, end: EndOfTransaction, then: Then) -> TransactionMetadata:
        """Commits or abort. `then(0)` is called when the outcome is decided. Returns the state that
        follows the end, with the producer's id and epoch for its next transaction. Raises
        Refusal."""
        entry = self.entry(transactional_id)
        following = self._end(entry, end, then)
        if following is None:
            then(error_codes.NONE)
            return entry.metadata
        return prepare_complete(following, self.now)

    def entry(self, transactional_id: str) -> TransactionalIdEntry:
        """Raises Refusal(INVALID_PRODUCER_ID_MAPPING) for an unknown id."""
        entry = self.entries.get(transactional_id)
        if entry is None:
            raise Refusal(error_codes.INVALID_PRODUCER_ID_MAPPING)
        return entry

    def expire(self, transactional_id: str) -> None:
        """Aborts the open transaction, as its time-out does. Raises Refusal:
        TRANSACTIONAL_ID_NOT_FOUND, INVALID_TXN_STATE if none is open, CONCURRENT_TRANSACTIONS."""
        entry = self.entries.get(transactional_id)
        if entry is None:
            raise Refusal(error_codes.TRANSACTIONAL_ID_NOT_FOUND)
        if entry.pending_state is not None:
            raise Refusal(error_codes.CONCURRENT_TRANSACTIONS)
        if entry.metadata.state is not ONGOING:
            raise Refusal(error_codes.INVALID_TXN_STATE, f"no transaction of {transactional_id!r} is open")
        self._fence(entry, self._log_failed_append)

    def abort_timed_out(self) -> None:
        """Aborts the transactions that have been open for longer than their time-out."""
        for entry in list(self.entries.values()):
            metadata = entry.metadata
            if (
                metadata.state is not ONGOING
                or entry.pending_state is not None
                or metadata.txn_timeout_ms == NO_TIMEOUT
            ):
                continue
            if metadata.txn_start_timestamp + metadata.txn_timeout_ms < self.now:
                self._fence(entry, self._log_failed_append)

    def remove_expired(self) -> None:
        """Removes the ids that were not used for `transactional.id.expiration.ms`."""
        oldest = self.now - self.node.settings.int("transactional.id.expiration.ms")
        self._remove_slice([entry for entry in self.entries.values() if _is_unused_since(entry, oldest)], oldest)

    def _remove_slice(self, unused: list[TransactionalIdEntry], oldest: int) -> None:
        """Removes the first of these ids, and soon the next ones. One that is in use again
        stays."""
        for entry in unused[:SLICE]:
            if _is_unused_since(entry, oldest):
                entry.begin(prepare_dead(entry.metadata))
                self._append_durably(tombstone(entry.transactional_id), partial(self._expired, entry))
        if len(unused) > SLICE:
            self._timers[NEXT_SLICE] = self.schedule(1, lambda now: self._remove_slice(unused[SLICE:], oldest))
        else:
            self._timers.pop(NEXT_SLICE, None)

    def _expired(self, entry: TransactionalIdEntry, code: int) -> None:
        if code:
            entry.pending_state = None
        else:
            self.entries.pop(entry.transactional_id, None)

    # The steps of a transaction.

    def _fence(self, entry: TransactionalIdEntry, then: Then) -> None:
        """Aborts the open transaction with an epoch that no producer has."""
        fence = prepare_fence_producer_epoch(entry)
        end = EndOfTransaction(fence.producer_id, fence.producer_epoch, False, self.transaction_version, fences=True)
        try:
            self._end(entry, end, then)
        except Refusal as refusal:
            then(refusal.code)

    def _end(self, entry: TransactionalIdEntry, end: EndOfTransaction, then: Then) -> TransactionMetadata | None:
        following = end_transaction(entry, end, self._next_producer_id, self.now)
        if following is not None:
            self._transition(entry, following, partial(self._decided, entry, end, then))
        return following

    def _decided(self, entry: TransactionalIdEntry, end: EndOfTransaction, then: Then, code: int) -> None:
        if not code:
            then(code)
            self._send_markers(entry)
            return
        if end.fences and end.client_version < EPOCH_BUMP_FROM:
            entry.fence_failed = True
        then(code)

    def _send_markers(self, entry: TransactionalIdEntry) -> None:
        metadata = entry.metadata
        following = entry.begin(prepare_complete(metadata, self.now))
        self._markers.send(PendingCompleteTxn(self, entry, metadata.state is PREPARE_COMMIT, following))

    def complete(self, pending: PendingCompleteTxn) -> None:
        """Every partition has its marker: write the end of the transaction, until it is written."""
        if self.closed:
            return
        entry, following = pending.entry, pending.following
        record = self._record(entry, following)
        self._append_durably(record, partial(self._completed, pending), following.txn_timeout_ms)

    def _completed(self, pending: PendingCompleteTxn, code: int) -> None:
        if not code:
            pending.entry.fence_failed = False
            pending.entry.complete(pending.following)
        elif not self.closed:
            self._retry_completion(pending)

    def _retry_completion(self, pending: PendingCompleteTxn) -> None:
        def due(now: int) -> None:
            del self._timers[name]
            self.complete(pending)

        name = f"complete {pending.entry.transactional_id}"
        self._timers[name] = self.schedule(RETRY_MS, due)

    def _transition(self, entry: TransactionalIdEntry, following: TransactionMetadata, then: Then) -> None:
        # The record comes first: nothing may fail between `begin` and the append, which calls back.
        record = self._record(entry, following)
        entry.begin(following)
        self._append_durably(record, partial(self._written, entry, following, then), following.txn_timeout_ms)

    def _record(self, entry: TransactionalIdEntry, metadata: TransactionMetadata) -> CoordinatorRecord:
        return transaction_record(entry.transactional_id, metadata, self.transaction_version)

    def _append_durably(self, record: CoordinatorRecord, then: Then, timeout_ms: int | None = None) -> None:
        """Appends with acks=all, as Kafka does: `then` is called with COORDINATOR_NOT_AVAILABLE at
        once if too few replicas are in sync. It is called whatever happens."""
        if self.partition.lacks_replicas:
            then(error_codes.COORDINATOR_NOT_AVAILABLE)
        else:
            self.append_without_replay(record, then, timeout_ms=timeout_ms)

    def _written(self, entry: TransactionalIdEntry, following: TransactionMetadata, then: Then, code: int) -> None:
        if code:
            entry.pending_state = None
        else:
            entry.complete(following)
        then(code)

    def _next_producer_id(self) -> int:
        return self.node.controller.producer_ids.next()


def _is_unused_since(entry: TransactionalIdEntry, oldest: int) -> bool:
    """Whether no transaction is open, and none has ended after `oldest` (ms)."""
    metadata = entry.metadata
    is_idle = entry.pending_state is None and metadata.state in BETWEEN_TRANSACTIONS
    return is_idle and metadata.txn_last_update_timestamp <= oldest
