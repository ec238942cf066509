"""Metadata transactions (KIP-868): what a new leader writes first, so that nothing of one that its predecessor left open is ever seen.

Rules. A leader that has replayed its whole log and finds a transaction open aborts it, in its first batch. Transactions exist from
metadata.version 13 on: an open one below that is a log that contradicts itself, and its leader fails, as Kafka's does. What cannot be one batch
(today only what a cluster begins with) stands in a transaction where there are any, and else in one batch.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafkadouble.messages.generated.begin_transaction_record import BeginTransactionRecord
from kafkadouble.messages.generated.end_transaction_record import EndTransactionRecord
from kafkadouble.messages.message import Message

from .broken_log import BrokenLog
from .features import METADATA_VERSION
from .replay import Fold
from .versions import TRANSACTIONS, batch_level

REASON = "Controller failover"
"""Kafka's word for it."""


def left_open(fold: Fold, records: Sequence[Message] = ()) -> list[Message]:
    """What a new leader writes before anything else, given the fold of its whole log: an abort where a transaction is open. BrokenLog where
    there cannot be one. `records` are those that a cluster without a level begins with: theirs counts then."""
    if not fold.in_transaction:
        return []
    level = batch_level(records, fold.image.features.get(METADATA_VERSION))
    if level < TRANSACTIONS:
        raise BrokenLog(f"a metadata transaction is open at metadata.version {level}, which has none")
    from kafkadouble.messages.generated.abort_transaction_record import AbortTransactionRecord  # seldom wanted

    return [AbortTransactionRecord(reason=REASON)]


def at_once(records: Sequence[Message], name: str, level: int | None) -> list[Message]:
    """The records in one transaction, or, where the level has none, as they are."""
    if batch_level(records, level) < TRANSACTIONS:
        return list(records)
    return [BeginTransactionRecord(name=name), *records, EndTransactionRecord()]
