"""TxnOffsetCommit: stores offsets of a group as part of a transaction (KIP-98, KIP-447, KIP-890).

They count when the transaction is committed. From version 5 on the broker adds the group's
partition to the transaction; before, it verifies that the client added it. From version 6 on topics
have ids instead of names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitResponse

from ..groups.requested_topics import merged_topics, resolve_topics
from ..groups.service.txn_offset_commit import commit_transactional_offsets
from ..metadata.internal_topics import CONSUMER_OFFSETS
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait, sliced

if TYPE_CHECKING:
    from ..groups.group_coordinator_shard import GroupCoordinatorShard
    from ..handler_context import HandlerContext
    from ..log.producers import VerificationStateEntry

RequestTopic = TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic
RequestPartition = TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition
ResponseTopic = TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic
ResponsePartition = TxnOffsetCommitResponse.TxnOffsetCommitResponsePartition

ADD_PARTITION_FROM, GENERIC_ERROR_FROM, TOPIC_IDS_FROM = 5, 4, 6

LOADING_KNOWN_FROM = 2
"""The first version whose clients retry COORDINATOR_LOAD_IN_PROGRESS."""

TRANSLATED = {
    error_codes.NETWORK_EXCEPTION: error_codes.COORDINATOR_LOAD_IN_PROGRESS,
    error_codes.UNKNOWN_TOPIC_OR_PARTITION: error_codes.COORDINATOR_NOT_AVAILABLE,
    error_codes.NOT_ENOUGH_REPLICAS: error_codes.COORDINATOR_NOT_AVAILABLE,
    error_codes.REQUEST_TIMED_OUT: error_codes.COORDINATOR_NOT_AVAILABLE,
    error_codes.NOT_LEADER_OR_FOLLOWER: error_codes.NOT_COORDINATOR,
    error_codes.KAFKA_STORAGE_ERROR: error_codes.NOT_COORDINATOR,
}
"""Error of the log or of the verification -> error of the response."""


def answer(node: HandlerContext, request: Request[TxnOffsetCommitRequest]) -> Wait[TxnOffsetCommitResponse]:
    body = request.body
    unknown, known = yield from resolve_topics(node.image, body.topics, request.version >= TOPIC_IDS_FROM)
    refused = yield from sliced(lambda each: _failed(*each), unknown)
    if not known:
        return TxnOffsetCommitResponse(topics=refused)
    try:
        shard = _shard(node, body.group_id)
        verification = yield from _verify(node, shard, request)
        if shard.closed:
            raise Refusal(error_codes.NOT_COORDINATOR)
        committed = yield from commit_transactional_offsets(shard, body, known, request.version, verification)
        committed = yield from shard.wait_for_commit(committed)
    except Refusal as refusal:
        code = _code_of(request, TRANSLATED.get(refusal.code, refusal.code))
        committed = yield from sliced(lambda topic: _failed(topic, code), known)
    return TxnOffsetCommitResponse(topics=(yield from merged_topics(refused, committed)))


def _shard(node: HandlerContext, group_id: str) -> GroupCoordinatorShard:
    """The shard of the group. Raises Refusal: as Kafka's verification, which comes first and asks
    the log of the partition, COORDINATOR_NOT_AVAILABLE if there is no such partition."""
    try:
        return node.groups.shard_of_named(group_id)
    except Refusal as refusal:
        index = node.groups.runtime.partition_of(group_id)
        if refusal.code != error_codes.NOT_COORDINATOR or node.partitions.get(CONSUMER_OFFSETS, index) is not None:
            raise
        raise Refusal(node.partitions.code_of_missing(CONSUMER_OFFSETS, index)) from None


def _verify(
    node: HandlerContext, shard: GroupCoordinatorShard, request: Request[TxnOffsetCommitRequest]
) -> Wait[VerificationStateEntry | None]:
    """Makes the group's partition part of the transaction. Raises Refusal."""
    from ..log.producers import NOT_REQUIRED
    from ..transactions.add_partitions_to_txn_manager import supported_operation
    from ..transactions.init_producer_id import ProducerIdAndEpoch
    from ..transactions.transaction_verification import TransactionalBatches, is_verified, verify

    body, version = request.body, request.version
    operation = supported_operation(
        version, generic_error_from=GENERIC_ERROR_FROM, add_partition_from=ADD_PARTITION_FROM
    )
    if not is_verified(node, operation):
        return NOT_REQUIRED
    key, producer = (CONSUMER_OFFSETS, shard.partition.index), ProducerIdAndEpoch(body.producer_id, body.producer_epoch)
    batches = TransactionalBatches(body.transactional_id, producer, operation, {key: (shard.partition, -1)})
    outcome = yield from verify(node, node.transactions.partitions_manager, batches, retries=False)
    if (code := outcome.codes.get(key)) is not None:
        raise Refusal(code)
    return outcome.verifications.get(key)


def _code_of(request: Request[TxnOffsetCommitRequest], code: int) -> int:
    is_old = request.version < LOADING_KNOWN_FROM
    if is_old and code == error_codes.COORDINATOR_LOAD_IN_PROGRESS:
        return error_codes.COORDINATOR_NOT_AVAILABLE
    return code


def _failed(topic: RequestTopic, code: int) -> ResponseTopic:
    failed = [ResponsePartition(partition_index=each.partition_index, error_code=code) for each in topic.partitions]
    return ResponseTopic(name=topic.name, topic_id=topic.topic_id, partitions=failed)


def refuse(request: Request[TxnOffsetCommitRequest], code: int, message: str | None) -> TxnOffsetCommitResponse:
    code = _code_of(request, code)
    return TxnOffsetCommitResponse(topics=[_failed(topic, code) for topic in request.body.topics])
