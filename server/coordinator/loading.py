"""A shard's log, folded from its beginning to its end: what a node does when it begins to lead the partition.

A record of a type that nobody knows here is passed over with a warning, as in Kafka: a newer version wrote it. Anything else that cannot be
read is an error, and the shard stays closed. A marker that ends a transaction is told to the shard as such.
"""

from __future__ import annotations

import logging

from kafkadouble.messages import coordinator
from kafkadouble.wire.batch import ABORT, COMMIT, control_type, read_header, records_of
from kafkadouble.wire.errors import UnknownMessage
from kafkadouble.wire.record import Record

from .shard import Shard

log = logging.getLogger("kafkadouble.server.coordinator")


def load(shard: Shard) -> None:
    """Fold everything that the shard's log holds. WireError when it cannot be read."""
    source = shard.partition.log
    family = coordinator.FAMILIES[source.topic]
    for batch in source.batches(source.log_start_offset):
        header = read_header(batch)
        for record in records_of(batch, 0, header, check_crc=False):
            if record.offset < source.log_start_offset:
                continue
            if header.is_control:
                _end_transaction(shard, header.producer_id, record)
            else:
                _fold(shard, header.producer_id, record, family)


def _end_transaction(shard: Shard, producer_id: int, record: Record) -> None:
    _, kind = control_type(record)
    if kind in (ABORT, COMMIT):
        shard.end_transaction(producer_id, kind == COMMIT)


def _fold(shard: Shard, producer_id: int, record: Record, family: str) -> None:
    if record.key is None:
        return
    try:
        key = coordinator.decode_key(record.key, family)
    except UnknownMessage as unknown:
        log.warning("%r: offset %s is passed over: %s", shard, record.offset, unknown)
        return
    value = None if record.value is None else coordinator.decode_value(record.value, key)[0]
    shard.fold(record.offset, producer_id, key, value)
