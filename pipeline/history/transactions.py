"""`level=transactions`: `__transaction_state` (KIP-98, KIP-890): every record, or the states of
each transactional id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from kafkadouble.messages.generated.transaction_log_record import TransactionLogKey, TransactionLogValue

from ..logs.options import LogOptions
from . import record_rows
from .chain import Chain, HistoryRecord
from .coordinated import decoded
from .level import TIME, HistoryTable, level, time

TOPIC = "__transaction_state"

STATUSES = (
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead", "PrepareEpochFence",
)  # fmt: skip
"""The states by their number in the log, with the names of Kafka's tools."""

_PARTITION = pa.struct([pa.field("topic", pa.string()), pa.field("partition", pa.int32())])

STATES = {
    "transactional_id": pa.string(),
    "status": pa.string(),
    "producer_id": pa.int64(),
    "producer_epoch": pa.int32(),
    "partitions": pa.list_(pa.field("element", _PARTITION)),
    "start_time": TIME,
    "update_time": TIME,
    "timeout_ms": pa.int32(),
    "previous_producer_id": pa.int64(),
    "next_producer_id": pa.int64(),
    "client_transaction_version": pa.int32(),
    "removed": pa.bool_(),
    "timestamp": TIME,
    "offset": pa.int64(),
    "state_partition": pa.int32(),
    "replica": pa.string(),
}
"""`removed`: the id has expired. `offset` is that of the record in the partition `state_partition`
of the log."""


def _states(log: Iterable[HistoryRecord], chain: Chain, options: LogOptions) -> Iterator[dict[str, Any]]:
    for entry, key, value in decoded(log, TOPIC, options):
        if not isinstance(key, TransactionLogKey):
            continue
        row = {
            "transactional_id": key.transactional_id,
            "removed": value is None,
            "timestamp": time(entry.timestamp),
            "offset": entry.offset,
            "state_partition": chain.partition,
        }
        yield row | _state(value) if isinstance(value, TransactionLogValue) else row


def _state(value: TransactionLogValue) -> dict[str, Any]:
    status = value.transaction_status
    return {
        "status": STATUSES[status] if 0 <= status < len(STATUSES) else str(status),
        "producer_id": value.producer_id,
        "producer_epoch": value.producer_epoch,
        "partitions": [
            {"topic": each.topic, "partition": index}
            for each in value.transaction_partitions or ()
            for index in each.partition_ids
        ],
        "start_time": time(value.transaction_start_timestamp_ms),
        "update_time": time(value.transaction_last_update_timestamp_ms),
        "timeout_ms": value.transaction_timeout_ms,
        "previous_producer_id": _id(value.previous_producer_id),
        "next_producer_id": _id(value.next_producer_id),
        "client_transaction_version": value.client_transaction_version,
    }


def _id(number: int) -> int | None:
    return number if number >= 0 else None


TABLES = {"states": HistoryTable(STATES, _states, whole=False), "records": record_rows.table("transactions")}

LEVEL = level(TOPIC, TABLES, "states")
