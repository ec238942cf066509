"""`level=transactions`: `__transaction_state` (KIP-98, KIP-890): every record, the states of each
transactional id, or the transactions and their outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from kafkadouble.messages.generated.transaction_log_record import TransactionLogKey, TransactionLogValue
from kafkadouble.server.transactions.transaction_state import LABELS

from ..logs.options import LogOptions
from . import outcomes, record_rows
from .chain import Chain, HistoryRecord
from .coordinated import decoded
from .level import TIME, HistoryTable, level, time
from .outcomes import PARTITIONS, OpenTransactions, partitions

TOPIC = "__transaction_state"

STATUSES = {state.value: label for state, label in LABELS.items()}
"""The states by their number in the log, with the names of Kafka's tools."""

STATES = {
    "transactional_id": pa.string(),
    "status": pa.string(),
    "producer_id": pa.int64(),
    "producer_epoch": pa.int32(),
    "partitions": PARTITIONS,
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
            **_place(entry, chain),
        }
        yield row | _state(value) if isinstance(value, TransactionLogValue) else row


def _place(entry: HistoryRecord, chain: Chain) -> dict[str, Any]:
    return {"offset": entry.offset, "state_partition": chain.partition}


def _state(value: TransactionLogValue) -> dict[str, Any]:
    status = value.transaction_status
    return {
        "status": STATUSES.get(status, str(status)),
        "producer_id": value.producer_id,
        "producer_epoch": value.producer_epoch,
        "partitions": partitions(value),
        "start_time": time(value.transaction_start_timestamp_ms),
        "update_time": time(value.transaction_last_update_timestamp_ms),
        "timeout_ms": value.transaction_timeout_ms,
        "previous_producer_id": _id(value.previous_producer_id),
        "next_producer_id": _id(value.next_producer_id),
        "client_transaction_version": value.client_transaction_version,
    }


def _id(number: int) -> int | None:
    return number if number >= 0 else None


def _outcomes(log: Iterable[HistoryRecord], chain: Chain, options: LogOptions) -> Iterator[dict[str, Any]]:
    unfinished = OpenTransactions()
    for entry, key, value in decoded(log, TOPIC, options):
        if isinstance(key, TransactionLogKey) and isinstance(value, TransactionLogValue):
            yield from unfinished.put(key.transactional_id, value, entry.timestamp, _place(entry, chain))
        elif isinstance(key, TransactionLogKey):
            yield from unfinished.remove(key.transactional_id)
    yield from unfinished.left()


TABLES = {
    "states": HistoryTable(STATES, _states, whole=False),
    "outcomes": HistoryTable(outcomes.FIELDS, _outcomes),
    "records": record_rows.table("transactions"),
}

LEVEL = level(TOPIC, TABLES, "states")
