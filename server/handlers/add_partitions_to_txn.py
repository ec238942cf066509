"""AddPartitionsToTxn: adds partitions to transactions, or verifies that they are in them (KIP-98,
KIP-890).

Clients add partitions to one transaction, up to version 3. From version 4 on brokers send batches
of transactions. If one partition does not exist, no partition of its transaction is added; the
others are OPERATION_NOT_ATTEMPTED. A client may not add internal topics, also without an
authorizer.

- v2: clients know PRODUCER_FENCED; before, it is INVALID_PRODUCER_EPOCH.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnResponse

from ..coordinator.response_future import ResponseFuture
from ..metadata.internal_topics import INTERNAL_TOPICS
from ..requests.request import Refusal, Request
from ..requests.slices import in_one_step
from ..requests.waiting import OTHERS_FIRST, SLICE, Slices, Wait
from ..security.acls import TOPIC, TRANSACTIONAL_ID
from ..security.authorizer import CLUSTER_ACTION, WRITE
from ..security.client_rights import client_rights

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
        # Clients need the transactional id, brokers the cluster.
        if request.version < BATCHES_FROM:
            rights.require(WRITE, TRANSACTIONAL_ID, request.body.v3_and_below_transactional_id)
        elif not rights.may_on_cluster(CLUSTER_ACTION):
            raise Refusal(error_codes.CLUSTER_AUTHORIZATION_FAILED)
    if request.version < BATCHES_FROM:
        (result,) = yield from _results(node, request, [_only(request.body)])
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=result.topic_results)
    # The first of each id, as in Kafka's collection.
    transactions: dict[str, Transaction] = {}
    for each in request.body.transactions:
        transactions.setdefault(each.transactional_id, each)
    results = yield from _results(node, request, transactions.values())
    return AddPartitionsToTxnResponse(results_by_transaction=results)


def _results(
    node: HandlerContext, request: Request[AddPartitionsToTxnRequest], transactions: Iterable[Transaction]
) -> Wait[list[Result]]:
    """The results, in slices. All transactions are begun before the first is waited for."""
    slices, begun, results = Slices(), [], []
    for transaction in transactions:
        begun.append((transaction, (yield from _begin(node, request, transaction, slices))))
        if slices.end():
            yield OTHERS_FIRST
    for transaction, result in begun:
        if isinstance(result, ResponseFuture):
            result = yield from _echo(transaction, (yield from result.wait()), slices)
        results.append(result)
        if slices.end():
            yield OTHERS_FIRST
    return results


def _only(body: AddPartitionsToTxnRequest) -> Transaction:
    return Transaction(
        transactional_id=body.v3_and_below_transactional_id,
        producer_id=body.v3_and_below_producer_id,
        producer_epoch=body.v3_and_below_producer_epoch,
        verify_only=False,
        topics=body.v3_and_below_topics,
    )


def _begin(
    node: HandlerContext, request: Request[AddPartitionsToTxnRequest], transaction: Transaction, slices: Slices
) -> Wait[Result | ResponseFuture[int]]:
    """The result of a transaction, or one error code for all of its partitions, which comes
    later."""
    from ..transactions.add_partitions import verify_partitions
    from ..transactions.init_producer_id import ProducerIdAndEpoch

    future: ResponseFuture[int] = ResponseFuture()

    def done(code: int) -> None:
        if code == error_codes.PRODUCER_FENCED and request.version < PRODUCER_FENCED_FROM:
            code = error_codes.INVALID_PRODUCER_EPOCH
        future.complete(code)

    codes: dict[TopicPartition, int] = {}
    for topic in transaction.topics:
        is_denied = not _may_be_added(node, request, topic.name)
        for start in range(0, len(topic.partitions) or 1, SLICE):
            indexes = topic.partitions[start : start + SLICE]
            codes |= {(topic.name, index): _code_of(node, topic.name, index, is_denied) for index in indexes}
            if slices.end(1 + len(indexes)):
                yield OTHERS_FIRST
    partitions = codes.keys()
    if any(codes.values()):
        return (yield from _result(transaction, codes, error_codes.OPERATION_NOT_ATTEMPTED, slices))
    producer = ProducerIdAndEpoch(transaction.producer_id, transaction.producer_epoch)
    try:
        shard = node.transactions.shard(transaction.transactional_id)
        if transaction.verify_only:
            found = verify_partitions(shard.entry(transaction.transactional_id), producer, partitions)
            return (yield from _result(transaction, found, error_codes.NONE, slices))
        else:
            client_version = 2 if request.version >= BATCHES_FROM else 0
            shard.add_partitions(transaction.transactional_id, producer, [*partitions], client_version, done)
    except Refusal as refusal:
        if transaction.verify_only:
            return (yield from _result(transaction, codes, refusal.code, slices))
        done(refusal.code)
    return future


def _may_be_added(node: HandlerContext, request: Request[AddPartitionsToTxnRequest], topic: str) -> bool:
    """Whether the client may write to the topic. No client may write to an internal one."""
    if request.version >= BATCHES_FROM:
        return True
    rights = client_rights(node, request)
    return topic not in INTERNAL_TOPICS and (rights is None or rights.may(WRITE, TOPIC, topic))


def _code_of(node: HandlerContext, name: str, index: int, is_denied: bool) -> int:
    """The error code of a partition that cannot be added, or 0."""
    if is_denied:
        return error_codes.TOPIC_AUTHORIZATION_FAILED
    topic = node.image.topic_named(name)
    if topic is None or index not in topic.partitions:
        return error_codes.UNKNOWN_TOPIC_OR_PARTITION
    return error_codes.NONE


def _echo(transaction: Transaction, code: int, slices: Slices) -> Wait[Result]:
    """The same outcome for everything that the request names, also for a topic without partitions
    and a partition that is named twice, as in Kafka."""
    topic_results = []
    for topic in transaction.topics:
        results: list[PartitionResult] = []
        topic_results.append(TopicResult(name=topic.name, results_by_partition=results))
        for start in range(0, len(topic.partitions) or 1, SLICE):
            indexes = topic.partitions[start : start + SLICE]
            results += [PartitionResult(partition_index=index, partition_error_code=code) for index in indexes]
            if slices.end(1 + len(indexes)):
                yield OTHERS_FIRST
    return Result(transactional_id=transaction.transactional_id, topic_results=topic_results)


def _result(
    transaction: Transaction, codes: Mapping[TopicPartition, int], otherwise: int, slices: Slices
) -> Wait[Result]:
    """The outcome of each partition; `otherwise` where its code is 0."""
    topics: dict[str, list[PartitionResult]] = {}
    for (topic, index), code in codes.items():
        partition = PartitionResult(partition_index=index, partition_error_code=code or otherwise)
        topics.setdefault(topic, []).append(partition)
        if slices.end():
            yield OTHERS_FIRST
    return Result(
        transactional_id=transaction.transactional_id,
        topic_results=[TopicResult(name=name, results_by_partition=topic) for name, topic in topics.items()],
    )


def refuse(request: Request[AddPartitionsToTxnRequest], code: int, message: str | None) -> AddPartitionsToTxnResponse:
    if request.version >= BATCHES_FROM:
        return AddPartitionsToTxnResponse(error_code=code)
    result = in_one_step(_echo(_only(request.body), code, Slices()))
    return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=result.topic_results)
