"""Adds the partitions that this broker leads to transactions, or verifies that they are in them, at
the coordinators (KIP-890).

Requests of several transactions to one coordinator travel together. A second request for the same
transactional id, while the first is not sent, replaces it: the first one gets NETWORK_EXCEPTION, so
that its client tries again, or INVALID_PRODUCER_EPOCH if its epoch is older.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnResponse
from kafkadouble.messages.message import Message

from ..coordinator.inter_broker_sender import BrokerRequest, InterBrokerSender
from ..metadata.internal_topics import TRANSACTION_STATE
from ..raft.request_manager import RequestFailure
from .init_producer_id import ProducerIdAndEpoch
from .transaction_metadata import TopicPartition, by_topic

if TYPE_CHECKING:
    from ..coordinator.host import CoordinatorHost

Transaction = AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction
TransactionTopic = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic

VERSION, LOWEST = 5, 4

Done = Callable[[Mapping[TopicPartition, int]], None]
"""Called once with the partitions that failed, and their error codes."""


class TransactionSupportedOperation(Enum):
    """The abilities of a producer's protocol, as in Kafka's class of this name."""

    DEFAULT_ERROR = 0
    """Verify; a partition that is not in the transaction is INVALID_TXN_STATE."""
    GENERIC_ERROR_SUPPORTED = 1
    """Verify; a partition that is not in the transaction is TRANSACTION_ABORTABLE."""
    ADD_PARTITION = 2
    """Add the partition: transactions version 2."""


def supported_operation(
    version: int, *, generic_error_from: int, add_partition_from: int
) -> TransactionSupportedOperation:
    """The abilities of a producer with this version of Produce or TxnOffsetCommit."""
    if version >= add_partition_from:
        return TransactionSupportedOperation.ADD_PARTITION
    if version >= generic_error_from:
        return TransactionSupportedOperation.GENERIC_ERROR_SUPPORTED
    return TransactionSupportedOperation.DEFAULT_ERROR


class PendingVerification(NamedTuple):
    """One transaction whose partitions are added or verified."""

    transactional_id: str
    producer: ProducerIdAndEpoch
    partitions: Collection[TopicPartition]
    operation: TransactionSupportedOperation
    done: Done

    def fail(self, code: int) -> None:
        """Answers all partitions with one error code."""
        self.done(dict.fromkeys(self.partitions, code))


class AddPartitionsToTxnManager(InterBrokerSender):
    """The transactions to ask about, by coordinator and transactional id."""

    def __init__(self, node: CoordinatorHost, partition_for: Callable[[str], int]) -> None:
        super().__init__(node)
        self._partition_for = partition_for
        self._by_broker: dict[int, dict[str, PendingVerification]] = {}

    def add_or_verify(self, requested: PendingVerification) -> None:
        """Asks the coordinator of the transactional id."""
        topic = self.node.image.topic_named(TRANSACTION_STATE)
        partition = None if topic is None else topic.partitions.get(self._partition_for(requested.transactional_id))
        broker = None if partition is None or self.endpoint(partition.leader) is None else partition.leader
        if broker is None:
            requested.fail(error_codes.COORDINATOR_NOT_AVAILABLE)
            return
        waiting = self._by_broker.setdefault(broker, {})
        earlier = waiting.get(requested.transactional_id)
        if earlier is not None:
            older, newer = earlier.producer.epoch, requested.producer.epoch
            if older > newer:
                requested.fail(error_codes.INVALID_PRODUCER_EPOCH)
                return
            earlier.fail(error_codes.INVALID_PRODUCER_EPOCH if older < newer else error_codes.NETWORK_EXCEPTION)
        waiting[requested.transactional_id] = requested
        self.send_to_self()

    def destinations(self) -> Iterable[int]:
        return self._by_broker.keys()

    def next_request(self, broker: int) -> BrokerRequest:
        waiting = self._by_broker.pop(broker)
        body = AddPartitionsToTxnRequest(transactions=[_transaction(each) for each in waiting.values()])
        return BrokerRequest(body, VERSION, LOWEST, waiting)

    def on_response(self, broker: int, items: Any, response: Message | RequestFailure) -> None:
        sent = cast("dict[str, PendingVerification]", items)
        if response is RequestFailure.UNSUPPORTED_VERSION:
            # As in Kafka: a coordinator that cannot verify does not stop the append.
            for each in sent.values():
                each.done({})
            return
        if isinstance(response, RequestFailure):
            _fail_all(sent, error_codes.NETWORK_EXCEPTION)
            return
        answer = cast("AddPartitionsToTxnResponse", response)
        if code := answer.error_code:
            is_forbidden = code == error_codes.CLUSTER_AUTHORIZATION_FAILED
            _fail_all(sent, error_codes.INVALID_TXN_STATE if is_forbidden else code)
            return
        for result in answer.results_by_transaction:
            pending = sent.pop(result.transactional_id, None)
            if pending is not None:
                pending.done(_failed(result, pending.operation))
        _fail_all(sent, error_codes.UNKNOWN_SERVER_ERROR)


def _fail_all(sent: Mapping[str, PendingVerification], code: int) -> None:
    for each in sent.values():
        each.fail(code)


def _transaction(pending: PendingVerification) -> Transaction:
    return Transaction(
        transactional_id=pending.transactional_id,
        producer_id=pending.producer.producer_id,
        producer_epoch=pending.producer.epoch,
        verify_only=pending.operation is not TransactionSupportedOperation.ADD_PARTITION,
        topics=[
            TransactionTopic(name=name, partitions=indexes) for name, indexes in by_topic(pending.partitions).items()
        ],
    )


def _failed(
    result: AddPartitionsToTxnResponse.AddPartitionsToTxnResult, operation: TransactionSupportedOperation
) -> dict[TopicPartition, int]:
    """The partitions with an error. Clients of Produce know INVALID_PRODUCER_EPOCH, not
    PRODUCER_FENCED, and old ones do not know TRANSACTION_ABORTABLE."""
    translated = {error_codes.PRODUCER_FENCED: error_codes.INVALID_PRODUCER_EPOCH}
    if operation is TransactionSupportedOperation.DEFAULT_ERROR:
        translated[error_codes.TRANSACTION_ABORTABLE] = error_codes.INVALID_TXN_STATE
    return {
        (topic.name, partition.partition_index): translated.get(code, code)
        for topic in result.topic_results
        for partition in topic.results_by_partition
        if (code := partition.partition_error_code)
    }
