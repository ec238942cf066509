"""Makes partitions part of a transaction before a batch is appended to them, or verifies that they
are (KIP-890).

The first batch of a transaction in a partition waits for the coordinator; the later ones find the
transaction open in the log. With transactions version 2 the coordinator may still be writing the
markers of the transaction before (CONCURRENT_TRANSACTIONS): then this broker tries again for a
short time, so that the client need not. Errors that older clients do not retry become
NOT_ENOUGH_REPLICAS.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from kafkadouble.messages import error_codes

from ..coordinator.response_future import ResponseFuture
from ..log.producers import VerificationStateEntry
from ..log.refusals import AppendRefused
from ..replica.replication.partition import Partition
from ..requests.waiting import Until, Wait
from .add_partitions_to_txn_manager import PendingVerification, TransactionSupportedOperation
from .init_producer_id import ProducerIdAndEpoch
from .transaction_metadata import TopicPartition

if TYPE_CHECKING:
    from ..coordinator.host import CoordinatorHost
    from .add_partitions_to_txn_manager import AddPartitionsToTxnManager

ADD_PARTITION = TransactionSupportedOperation.ADD_PARTITION

UNABLE = "Unable to verify the partition has been added to the transaction. Underlying error: "
RETRIED_BY_CLIENTS = frozenset(
    {
        error_codes.NETWORK_EXCEPTION,
        error_codes.COORDINATOR_LOAD_IN_PROGRESS,
        error_codes.COORDINATOR_NOT_AVAILABLE,
        error_codes.NOT_COORDINATOR,
    }
)
"""Errors of the coordinator that become NOT_ENOUGH_REPLICAS: every client retries that, and does
not refresh its metadata for it."""


class TransactionVerification(NamedTuple):
    """The outcome: what the log must be shown, and the codes of the partitions that failed."""

    verifications: Mapping[TopicPartition, VerificationStateEntry | None]
    codes: Mapping[TopicPartition, int]
    operation: TransactionSupportedOperation

    def refusal(self, partition: TopicPartition) -> AppendRefused | None:
        """Why a batch of a producer is not appended to this partition."""
        code = self.codes.get(partition)
        return None if code is None else _refusal(code, self.operation)


class TransactionalBatches(NamedTuple):
    """The batches of one request: partition -> the leader and the first sequence."""

    transactional_id: str
    producer: ProducerIdAndEpoch
    operation: TransactionSupportedOperation
    batches: Mapping[TopicPartition, tuple[Partition, int]]


def is_verified(node: CoordinatorHost, operation: TransactionSupportedOperation) -> bool:
    """Whether batches of such a producer must be verified."""
    return operation is ADD_PARTITION or node.settings.bool("transaction.partition.verification.enable")


def verify(
    node: CoordinatorHost,
    manager: AddPartitionsToTxnManager,
    request: TransactionalBatches,
    *,
    retries: bool = True,
) -> Wait[TransactionVerification]:
    """Asks the coordinator about the partitions in which the transaction is not open yet."""
    producer, operation = request.producer, request.operation
    found: dict[TopicPartition, VerificationStateEntry | None] = {}
    failed: dict[TopicPartition, int] = {}
    for key, (partition, sequence) in request.batches.items():
        try:
            found[key] = partition.log.producers.verify(
                producer.producer_id, sequence, producer.epoch, operation is ADD_PARTITION, node.now
            )
        except AppendRefused as refused:
            failed[key] = refused.code
    unknown = [key for key, verification in found.items() if verification is not None]
    if unknown:
        failed |= yield from _ask(node, manager, request, unknown, retries and operation is ADD_PARTITION)
    return TransactionVerification(found, failed, operation)


def _ask(
    node: CoordinatorHost,
    manager: AddPartitionsToTxnManager,
    request: TransactionalBatches,
    partitions: list[TopicPartition],
    retries: bool,
) -> Wait[Mapping[TopicPartition, int]]:
    pause = node.settings.int("add.partitions.to.txn.retry.backoff.ms")
    most = min(node.settings.int("add.partitions.to.txn.retry.backoff.max.ms"), node.settings.int("request.timeout.ms"))
    deadline = node.now + most if retries else node.now
    while True:
        future: ResponseFuture[Mapping[TopicPartition, int]] = ResponseFuture()
        manager.add_or_verify(
            PendingVerification(
                request.transactional_id, request.producer, partitions, request.operation, future.complete
            )
        )
        codes = yield from future.wait()
        if error_codes.CONCURRENT_TRANSACTIONS not in codes.values() or node.now >= deadline:
            return codes
        yield Until(node.now + pause)


def _refusal(code: int, operation: TransactionSupportedOperation) -> AppendRefused:
    if code in RETRIED_BY_CLIENTS or (code == error_codes.CONCURRENT_TRANSACTIONS and operation is not ADD_PARTITION):
        return AppendRefused(error_codes.NOT_ENOUGH_REPLICAS, UNABLE + error_codes.name(code), is_shown=True)
    if code == error_codes.INVALID_TXN_STATE:
        return AppendRefused(code, "Partition was not added to the transaction", is_shown=True)
    return AppendRefused(code, error_codes.meaning(code))
