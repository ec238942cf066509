"""Metadata transactions (KIP-868): a new active controller first aborts a transaction that its
predecessor left open.

The abort is in the first batch of a controller that finds an open transaction at the end of its
log. Transactions exist from metadata.version 13 on: below that an open transaction is a broken log,
and the controller fails, as in Kafka. Records that do not fit into one batch (only the first
records of a cluster) are written in a transaction if metadata.version has them, else in one batch.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafkadouble.messages.generated.begin_transaction_record import BeginTransactionRecord
from kafkadouble.messages.generated.end_transaction_record import EndTransactionRecord
from kafkadouble.messages.message import Message

from .broken_log import BrokenLog
from .features import METADATA_VERSION
from .record_versions import TRANSACTIONS, batch_level
from .replay import MetadataDelta

REASON = "Controller failover"
"""Kafka's text."""


def abort_records(delta: MetadataDelta, records: Sequence[Message] = ()) -> list[Message]:
    """The records that a new active controller writes first, given the replay of its whole log: an
    abort if a transaction is open. BrokenLog if metadata.version has no transactions. `records` are
    the first ones of a cluster without a metadata.version: they name it.
    """
    if not delta.in_transaction:
        return []
    level = batch_level(records, delta.image.features.get(METADATA_VERSION))
    if level < TRANSACTIONS:
        raise BrokenLog(f"a metadata transaction is open at metadata.version {level}, which has none")
    # rarely needed
    from kafkadouble.messages.generated.abort_transaction_record import AbortTransactionRecord

    return [AbortTransactionRecord(reason=REASON)]


def in_transaction(records: Sequence[Message], name: str, level: int | None) -> list[Message]:
    """The records in one transaction or, below the metadata.version with transactions,
    unchanged.
    """
    if batch_level(records, level) < TRANSACTIONS:
        return list(records)
    return [BeginTransactionRecord(name=name), *records, EndTransactionRecord()]
