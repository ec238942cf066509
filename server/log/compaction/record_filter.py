"""Selects the part of one batch that compaction keeps: the whole batch, a shorter batch, an empty
batch, or nothing.

Rules, as in Kafka. A record stays while it is the newest of its key; a record without a key is
removed. Two kinds stay until the delete horizon of their batch (KIP-534): a tombstone, and the
marker of a transaction that has no data left. The horizon is `delete.retention.ms` after the first
pass that met them, so that a slow consumer has time to read them. A batch keeps its first and its
last offset, however few records are left. An empty batch stays when it alone holds the last
sequence or the epoch of a producer, or when it is the end of what may be cleaned (KIP-98); it also
keeps its largest timestamp, from which the expiration of the producer counts. A batch that loses
nothing is not rewritten: no byte of it changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kafkadouble.wire.batch import APPEND_TIME, BatchHeader, Record, encode_batch, read_header, records_of
from kafkadouble.wire.checksum import Buffer

from ..producers import LastRecord
from .offset_map import OffsetMap
from .transactions import CleanedTransactions


class CleanerPass(NamedTuple):
    """The values that are the same for all batches of one pass. The part of the log that may be
    cleaned ends at `end`: a batch that ends there stays, perhaps empty. Transactions that ended
    below `settled` have their final outcome."""

    newest: OffsetMap
    transactions: CleanedTransactions
    now: int
    delete_retention_ms: int
    last_of_producer: dict[int, LastRecord]
    end: int
    settled: int
    level: int | None = None


def retained(batch: Buffer, of: CleanerPass) -> Buffer | None:
    """The rest of `batch`; None if no record is left. WireError when it cannot be read."""
    header = read_header(batch)
    obsolete = of.transactions.is_obsolete(header, batch)
    expired = header.has_delete_horizon and header.base_timestamp <= of.now
    records = records_of(batch, 0, header, check_crc=False)
    if header.is_control:
        left = [] if obsolete and expired else records
    elif obsolete:
        left = []
    else:
        left = [record for record in records if _stays(record, header, of, expired)]
    if not left:
        return _emptied(header) if header.next_offset == of.end or _is_last_of_producer(header, of) else None
    horizon = _horizon(header, left, of, obsolete)
    if len(left) == len(records) and horizon is None:
        return batch
    append_time = header.timestamp_type == APPEND_TIME
    return _encoded(
        header,
        left,
        compression=header.compression,
        level=of.level,
        max_timestamp=header.max_timestamp if append_time else None,
        delete_horizon=header.base_timestamp if header.has_delete_horizon else horizon,
    )


def _stays(record: Record, header: BatchHeader, of: CleanerPass, expired: bool) -> bool:
    if record.offset > of.newest.latest:
        return True
    if record.key is None:
        return False
    return record.offset >= of.newest.newest(record.key) and (record.value is not None or not expired)


def _is_last_of_producer(header: BatchHeader, of: CleanerPass) -> bool:
    last = of.last_of_producer.get(header.producer_id)
    if last is None:
        return False
    if last.data_offset >= 0:
        return header.last_offset == last.data_offset
    return header.is_control and header.producer_epoch == last.epoch


def _horizon(header: BatchHeader, left: list[Record], of: CleanerPass, obsolete: bool) -> int | None:
    """The delete horizon that the batch gets now; None when it has one, or needs none."""
    if header.has_delete_horizon:
        return None
    is_needed = obsolete if header.is_control else any(record.value is None for record in left)
    return of.now + of.delete_retention_ms if is_needed else None


def _emptied(header: BatchHeader) -> bytearray:
    return _encoded(header, (), max_timestamp=header.max_timestamp)


def _encoded(header: BatchHeader, records: Sequence[Record], **others: Any) -> bytearray:
    """A batch with these records, and with the offsets, the producer and the epoch of another."""
    return encode_batch(
        records,
        base_offset=header.base_offset,
        timestamp_type=header.timestamp_type,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        partition_leader_epoch=header.partition_leader_epoch,
        is_transactional=header.is_transactional,
        is_control=header.is_control,
        last_offset=header.last_offset,
        **others,
    )
