"""AddPartitionsToTxn: adds partitions to transactions, or verifies that they are in them (KIP-98,
KIP-890).

Clients add partitions to one transaction, up to version 3. From version 4 on brokers send batches
of transactions. If one partition does not exist, no partition of its transaction is added; the
others are OPERATION_NOT_ATTEMPTED. A client may not add internal topics, also without an
authorizer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnResponse

from ..coordinator.response_future import ResponseFuture
from ..metadata.internal_topics import INTERNAL_TOPICS
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait
from ..security.acls import TOPIC, TRANSACTIONAL_ID
from ..security.authorizer import CLUSTER_ACTION, WRITE
from ..security.client_rights import ClientRights, client_rights

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

Transaction = AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction
Topic = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic
Result = AddPartitionsToTxnResponse.AddPartitionsToTxnResult
TopicResult = AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult
PartitionResult = AddPartitionsToTxnResponse.AddPartitionsToTxnPartitionResult

BATCHES_FROM = 4
"""The first version with several transactions, for brokers; its clients have transactions version
2."""

PRODUCER_FENCED_FROM = 2
"""The first version whose clients know PRODUCER_FENCED."""

TopicPartition = tuple[str, int]


def answer(node: HandlerContext, request: Request[AddPartitionsToTxnRequest]) -> Wait[AddPartitionsToTxnResponse]:
    if (rights := client_rights(node, request)) is not None:
        _authorize(rights, request)
    if request.version < BATCHES_FROM:
        result = yield from _answer_one(node, request, _only(request.body))
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=result.topic_results)
    # All are begun before the first is waited for.
    begun = [_begin(node, request, transaction) for transaction in _once(request.body.transactions)]
    for future in begun:
        yield from future.wait()
    results = [future.response for future in begun if future.response is not None]
    return AddPartitionsToTxnResponse(results_by_transaction=results)


def _once(transactions: Iterable[Transaction]) -> Iterable[Transaction]:
    """The transactions by id: the first of each, as in Kafka's collection."""
    found: dict[str, Transaction] = {}
    for each in transactions:
        found.setdefault(each.transactional_id, each)
    return found.values()


def _only(body: AddPartitionsToTxnRequest) -> Transaction:
    return Transaction(
        transactional_id=body.v3_and_below_transactional_id,
        producer_id=body.v3_and_below_producer_id,
        producer_epoch=body.v3_and_below_producer_epoch,
        verify_only=False,
        topics=body.v3_and_below_topics,
    )


def _answer_one(
    node: HandlerContext, request: Request[AddPartitionsToTxnRequest], transaction: Transaction
) -> Wait[Result]:
    return (yield from _begin(node, request, transaction).wait())


def _begin(
    node: HandlerContext, request: Request[AddPartitionsToTxnRequest], transaction: Transaction
) -> ResponseFuture[Result]:
    from ..transactions.add_partitions import verify_partitions
    from ..transactions.init_producer_id import ProducerIdAndEpoch

    future: ResponseFuture[Result] = ResponseFuture()
    partitions = [(topic.name, index) for topic in transaction.topics for index in topic.partitions]

    def done(code: int) -> None:
        if code == error_codes.PRODUCER_FENCED and request.version < PRODUCER_FENCED_FROM:
            code = error_codes.INVALID_PRODUCER_EPOCH
        future.complete(_echo(transaction, code))

    unknown = [each for each in partitions if not _exists(node, each)]
    denied = [each for each in partitions if not _may_be_added(node, request, each[0])]
    if unknown or denied:
        codes = dict.fromkeys(partitions, error_codes.OPERATION_NOT_ATTEMPTED)
        codes |= dict.fromkeys(unknown, error_codes.UNKNOWN_TOPIC_OR_PARTITION)
        codes |= dict.fromkeys(denied, error_codes.TOPIC_AUTHORIZATION_FAILED)
        future.complete(_result(transaction, codes))
        return future
    producer = ProducerIdAndEpoch(transaction.producer_id, transaction.producer_epoch)
    try:
        shard = node.transactions.shard(transaction.transactional_id)
        if transaction.verify_only:
            found = verify_partitions(shard.entry(transaction.transactional_id), producer, partitions)
            future.complete(_result(transaction, found))
        else:
            client_version = 2 if request.version >= BATCHES_FROM else 0
            shard.add_partitions(transaction.transactional_id, producer, partitions, client_version, done)
    except Refusal as refusal:
        if transaction.verify_only:
            future.complete(_result(transaction, dict.fromkeys(partitions, refusal.code)))
        else:
            done(refusal.code)
    return future


def _authorize(rights: ClientRights, request: Request[AddPartitionsToTxnRequest]) -> None:
    """Raises Refusal: clients need the transactional id, brokers the cluster."""
    if request.version < BATCHES_FROM:
        rights.require(WRITE, TRANSACTIONAL_ID, request.body.v3_and_below_transactional_id)
    elif not rights.may_on_cluster(CLUSTER_ACTION):
        raise Refusal(error_codes.CLUSTER_AUTHORIZATION_FAILED)


def _may_be_added(node: HandlerContext, request: Request[AddPartitionsToTxnRequest], topic: str) -> bool:
    """Whether the client may write to the topic. No client may write to an internal one."""
    if request.version >= BATCHES_FROM:
        return True
    rights = client_rights(node, request)
    return topic not in INTERNAL_TOPICS and (rights is None or rights.may(WRITE, TOPIC, topic))


def _exists(node: HandlerContext, partition: TopicPartition) -> bool:
    topic = node.image.topic_named(partition[0])
    return topic is not None and partition[1] in topic.partitions


def _echo(transaction: Transaction, code: int) -> Result:
    """The same outcome for everything that the request names, also for a topic without partitions
    and a partition that is named twice, as in Kafka."""
    topic_results = [
        TopicResult(
            name=topic.name,
            results_by_partition=[
                PartitionResult(partition_index=index, partition_error_code=code) for index in topic.partitions
            ],
        )
        for topic in transaction.topics
    ]
    return Result(transactional_id=transaction.transactional_id, topic_results=topic_results)


def _result(transaction: Transaction, codes: Mapping[TopicPartition, int]) -> Result:
    topics: dict[str, list[PartitionResult]] = {}
    for (topic, index), code in codes.items():
        partition = PartitionResult(partition_index=index, partition_error_code=code)
        topics.setdefault(topic, []).append(partition)
    return Result(
        transactional_id=transaction.transactional_id,
        topic_results=[TopicResult(name=name, results_by_partition=found) for name, found in topics.items()],
    )


def refuse(request: Request[AddPartitionsToTxnRequest], code: int, message: str | None) -> AddPartitionsToTxnResponse:
    if request.version >= BATCHES_FROM:
        return AddPartitionsToTxnResponse(error_code=code)
    result = _echo(_only(request.body), code)
    return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=result.topic_results)
