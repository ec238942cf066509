"""The table `outcomes` of `level=transactions`: each transaction with its producer, its partitions,
its outcome and its times (KIP-98, KIP-890).

All records of a transaction have the time at which it began, so this time tells one transaction of
an id from the next one. Compaction removes records of a transaction that has ended, but the last
one; what only they held is then null.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from kafkadouble.messages.generated.transaction_log_record import TransactionLogValue
from kafkadouble.server.transactions.transaction_state import (
    COMPLETE_ABORT,
    COMPLETE_COMMIT,
    ONGOING,
    PREPARE_ABORT,
    PREPARE_COMMIT,
)

from .level import TIME, time

COMMIT, ABORT = "commit", "abort"
DECIDED = {PREPARE_COMMIT.value: COMMIT, PREPARE_ABORT.value: ABORT}
ENDED = {COMPLETE_COMMIT.value: COMMIT, COMPLETE_ABORT.value: ABORT}

PARTITIONS = pa.list_(
    pa.field("element", pa.struct([pa.field("topic", pa.string()), pa.field("partition", pa.int32())]))
)

FIELDS = {
    "transactional_id": pa.string(),
    "producer_id": pa.int64(),
    "producer_epoch": pa.int32(),
    "outcome": pa.string(),
    "partitions": PARTITIONS,
    "start_time": TIME,
    "decided_time": TIME,
    "end_time": TIME,
    "timeout_ms": pa.int32(),
    "client_transaction_version": pa.int32(),
    "current": pa.bool_(),
    "offset": pa.int64(),
    "state_partition": pa.int32(),
    "replica": pa.string(),
}
"""`producer_id` and `producer_epoch` are those of the transaction's batches; the records after its
decision may have the next ones (KIP-890). `outcome`: commit or abort, null while it is undecided.
`end_time`: all partitions have their markers. It is the timestamp of the record, because Kafka
chooses the time in the record before the markers are written. `current`: it has not ended. `offset`
is that of its first record in the partition `state_partition` of the log."""

Row = dict[str, Any]


class OpenTransactions:
    """The transactions of one partition of the log that have not ended, by transactional id. A
    transaction that ends is returned at once; the others are returned at the end of the log."""

    def __init__(self) -> None:
        self._rows: dict[str, Row] = {}

    def put(self, transactional_id: str, value: TransactionLogValue, written: int | None, place: Row) -> Iterator[Row]:
        """Applies a state of this id that was `written` then (ms). `place` has the columns of the
        record's place."""
        status, start = value.transaction_status, time(value.transaction_start_timestamp_ms)
        row = self._rows.get(transactional_id)
        if row is not None and row["start_time"] != start:
            yield self._ended(transactional_id)
            row = None
        if status != ONGOING.value and status not in DECIDED and status not in ENDED:
            return
        if row is None:
            row = self._rows[transactional_id] = {"transactional_id": transactional_id, "start_time": start, **place}
        row.update(_columns(value, time(written)))
        if status in ENDED:
            yield self._ended(transactional_id)

    def remove(self, transactional_id: str) -> Iterator[Row]:
        """The id has expired."""
        if transactional_id in self._rows:
            yield self._ended(transactional_id)

    def left(self) -> Iterator[Row]:
        """The transactions that are open at the end of the log."""
        for row in self._rows.values():
            yield {**row, "current": True}

    def _ended(self, transactional_id: str) -> Row:
        return {**self._rows.pop(transactional_id), "current": False}


def _columns(value: TransactionLogValue, written: int | None) -> Row:
    """The columns that a record of a transaction decides."""
    status = value.transaction_status
    row: Row = {
        "timeout_ms": value.transaction_timeout_ms,
        "client_transaction_version": value.client_transaction_version,
    }
    if status in ENDED:
        return {**row, "outcome": ENDED[status], "end_time": written}
    row["partitions"] = partitions(value)
    if status in DECIDED:
        return {**row, "outcome": DECIDED[status], "decided_time": written}
    return {**row, "producer_id": value.producer_id, "producer_epoch": value.producer_epoch}


def partitions(value: TransactionLogValue) -> list[Row]:
    """The partitions of a state, one by one."""
    return [
        {"topic": each.topic, "partition": index}
        for each in value.transaction_partitions or ()
        for index in each.partition_ids
    ]
