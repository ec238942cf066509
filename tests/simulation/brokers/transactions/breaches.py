"""The functions that the mutations put in place of the core's own: each breaks one rule of
transactions, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafkadouble.messages import error_codes
from kafkadouble.server.coordinator.coordinator_shard import CoordinatorShard
from kafkadouble.server.groups.offset_metadata_manager import OffsetMetadataManager
from kafkadouble.server.log.producers import NO_PRODUCER_EPOCH, AppendOrigin, Producers
from kafkadouble.server.log.refusals import AppendRefused
from kafkadouble.server.log.transactions import Transactions
from kafkadouble.server.transactions import init_producer_id as init_module
from kafkadouble.server.transactions.add_partitions_to_txn_manager import TransactionSupportedOperation
from kafkadouble.server.transactions.transaction_coordinator_shard import TransactionCoordinatorShard
from kafkadouble.server.transactions.transaction_marker_channel_manager import TransactionMarkerChannelManager
from kafkadouble.server.transactions.transaction_metadata import prepare_increment_producer_epoch
from kafkadouble.server.transactions.transaction_state import EMPTY, ONGOING, PREPARED, VALID_PREVIOUS_STATES

_append_durably, _add_markers, _record_marker = (
    TransactionCoordinatorShard._append_durably,
    TransactionMarkerChannelManager._add,
    Producers.record_marker,
)
_check, _verify, _check_marker, _replay = (
    Producers.check,
    Producers.verify,
    Producers.check_marker,
    CoordinatorShard.write_transactional,
)
_init, _on_loaded = init_module.init_producer_id, TransactionCoordinatorShard.on_loaded
_end_offsets, _end = OffsetMetadataManager.end_transaction, Transactions.end

high_watermark = property(lambda self: self.high_watermark)
"""The last stable offset, without a look at transactions."""

EMPTY_AFTER_ANY = {**VALID_PREVIOUS_STATES, EMPTY: VALID_PREVIOUS_STATES[EMPTY] | {ONGOING}}


def none_aborted(*_: Any) -> list[Any]:
    return []


def leaves_it_open(self: Producers, header: Any, coordinator_epoch: int, timestamp: int) -> int:
    """Records the marker's epoch, and not that the transaction has ended."""
    producer = self._entry(header.producer_id)
    started = producer.transaction_start
    _record_marker(self, header, coordinator_epoch, timestamp)
    producer.transaction_start = started
    return -1


def answers_before_it_is_committed(self: Any, record: Any, then: Any, timeout_ms: int | None = None) -> None:
    """Does not wait for the in-sync replicas."""
    if self.partition.lacks_replicas:
        then(error_codes.COORDINATOR_NOT_AVAILABLE)
        return
    self._append([record])
    then(error_codes.NONE)


def marks_its_own(self: TransactionMarkerChannelManager, pending: Any, partitions: Iterable[Any]) -> None:
    """Takes the partitions of other leaders for marked."""
    own = [each for each in partitions if self._leader(each) == self.node.id]
    pending.entry.marked(each for each in partitions if each not in own)
    _add_markers(self, pending, own)


def sends_no_markers_again(self: TransactionCoordinatorShard) -> None:
    """A loaded shard leaves what is decided as it is."""
    decided = {id: entry for id, entry in self.entries.items() if entry.metadata.state in PREPARED}
    for id in decided:
        del self.entries[id]
    try:
        _on_loaded(self)
    finally:
        self.entries |= decided


def takes_any_epoch(self: Producers, header: Any, origin: AppendOrigin) -> None:
    """The checks of a batch, except that of its epoch."""
    producer = self.get(header.producer_id)
    if producer is None or header.producer_epoch >= producer.epoch:
        _check(self, header, origin)


def verifies_any_epoch(self: Producers, producer_id: int, sequence: int, epoch: int, *given: Any) -> Any:
    try:
        return _verify(self, producer_id, sequence, epoch, *given)
    except AppendRefused:
        return None


def verifies_version_2_only(node: Any, operation: TransactionSupportedOperation) -> bool:
    return operation is TransactionSupportedOperation.ADD_PARTITION


def forgets_what_is_open(entry: Any, expected: Any, timeout_ms: int, next_producer_id: Any, now: int) -> Any:
    """Gives the next epoch, and leaves the records of the open transaction alone."""
    metadata = entry.metadata
    if entry.pending_state is None and metadata.state is ONGOING and metadata.producer_epoch != NO_PRODUCER_EPOCH:
        return prepare_increment_producer_epoch(metadata, timeout_ms, None, now)
    return _init(entry, expected, timeout_ms, next_producer_id, now)


def shows_offsets_at_once(self: CoordinatorShard, records: Any, *given: Any) -> None:
    """Replays transactional records as if they were in no transaction."""
    replay = self.replay
    self.replay = lambda offset, producer_id, key, value: replay(offset, -1, key, value)  # type: ignore[method-assign]  # while it writes
    try:
        _replay(self, records, *given)
    finally:
        del self.replay


def drops_offsets(self: OffsetMetadataManager, producer_id: int, committed: bool) -> None:
    _end_offsets(self, producer_id, False)


def lists_every_end(self: Transactions, producer_id: int, first: int, marker: int, aborted: bool) -> Any:
    return _end(self, producer_id, first, marker, True)


def takes_any_coordinator(self: Producers, header: Any, coordinator_epoch: int, transaction_version: int) -> None:
    _check_marker(self, header, 2**31 - 1, transaction_version)
