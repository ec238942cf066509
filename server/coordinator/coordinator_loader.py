"""Loads a coordinator shard: replays its partition from the log start offset to the log end offset.

A record of an unknown type was written by a newer version. It is skipped with a warning, as in
Kafka. Any other record that cannot be decoded is an error, which ends the loading. A transaction
marker is replayed as the end of the transaction.
"""

from __future__ import annotations

from kafkadouble.messages import coordinator
from kafkadouble.wire.batch import ABORT, COMMIT, BatchHeader, control_type, iter_batches, records_of
from kafkadouble.wire.client_log import ClientLog
from kafkadouble.wire.errors import InvalidRecord, UnknownMessage
from kafkadouble.wire.record import Record

from ..requests.gc_pause import all_kept
from .coordinator_shard import CoordinatorShard

LOAD_BYTES = 1 << 20
"""The bytes of one read."""

log = ClientLog("kafkadouble.server.coordinator")


def load(shard: CoordinatorShard) -> None:
    """Replays the whole log of the shard's partition. Raises WireError if it cannot be decoded."""
    source = shard.partition.log
    start, end = source.log_start_offset, source.log_end_offset
    family = coordinator.FAMILIES[source.topic]
    offset = start
    with all_kept():
        while offset < end:
            found = source.read(offset, LOAD_BYTES, end, sealed=False)
            if not found.records:  # compaction left no batch up to the end
                return
            for position, header in iter_batches(found.records):
                for record in records_of(found.records, position, header, check_crc=False):
                    if record.offset >= start:
                        _replay(shard, header, record, family)
            offset = found.next_offset


def _replay(shard: CoordinatorShard, header: BatchHeader, record: Record, family: str) -> None:
    if header.is_control:
        _, kind = control_type(record)
        if kind in (ABORT, COMMIT):
            shard.replay_end_transaction_marker(header.producer_id, kind == COMMIT)
        return
    if record.key is None:
        if shard.tolerates_damage:
            raise InvalidRecord(f"the record at offset {record.offset} has no key")
        return
    try:
        key = coordinator.decode_key(record.key, family)
    except UnknownMessage as unknown:
        _log_skipped(shard, record, unknown)
        return
    try:
        value = None if record.value is None else coordinator.decode_value(record.value, key)[0]
    except UnknownMessage as unknown:
        if not shard.tolerates_damage:
            raise
        _log_skipped(shard, record, unknown)
        return
    shard.replay(record.offset, header.producer_id, key, value)


def _log_skipped(shard: CoordinatorShard, record: Record, unknown: UnknownMessage) -> None:
    log.warning("%r: skipped the record at offset %s: %s", shard, record.offset, unknown)
