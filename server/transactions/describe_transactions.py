"""DescribeTransactions: the state of one transactional id, with the partitions of its open
transaction (KIP-664)."""

from __future__ import annotations

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_transactions import DescribeTransactionsResponse

from ..requests.request import Refusal
from .transaction_coordinator_shard import TransactionCoordinatorShard
from .transaction_metadata import TransactionMetadata, by_topic
from .transaction_state import DEAD

DescribedTransaction = DescribeTransactionsResponse.TransactionState
TopicData = DescribeTransactionsResponse.TopicData


def metadata_in(shard: TransactionCoordinatorShard, transactional_id: str) -> TransactionMetadata:
    """Raises Refusal(TRANSACTIONAL_ID_NOT_FOUND) for an id that is unknown or expired."""
    entry = shard.entries.get(transactional_id)
    if entry is None or entry.metadata.state is DEAD:
        raise Refusal(error_codes.TRANSACTIONAL_ID_NOT_FOUND)
    return entry.metadata


def described_transaction(transactional_id: str, metadata: TransactionMetadata) -> DescribedTransaction:
    """The transactional id's state in the form of the response. Topics and partitions are in
    order."""
    topics = by_topic(sorted(metadata.topic_partitions))
    return DescribedTransaction(
        transactional_id=transactional_id,
        transaction_state=metadata.state.label,
        transaction_timeout_ms=metadata.txn_timeout_ms,
        transaction_start_time_ms=metadata.txn_start_timestamp,
        producer_id=metadata.producer_id,
        producer_epoch=metadata.producer_epoch,
        topics=[TopicData(topic=topic, partitions=partitions) for topic, partitions in topics.items()],
    )
