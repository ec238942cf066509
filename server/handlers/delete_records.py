"""DeleteRecords: raise the log start offset of partitions (KIP-107).

Offset -1 means the high watermark. The response has the new log start offset. An internal topic is
INVALID_TOPIC_EXCEPTION, a topic that is only compacted POLICY_VIOLATION, an offset above the high
watermark OFFSET_OUT_OF_RANGE. The response is sent when every replica on a live broker has the new
log start offset, or as REQUEST_TIMED_OUT; with a single replica it is sent at once.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.delete_records import DeleteRecordsRequest, DeleteRecordsResponse

from ..log.files.errors import DiskFailure
from ..metadata.internal_topics import INTERNAL_TOPICS
from ..replica.replication.partition import ANY_EPOCH, Partition
from ..requests.named_once import named_once
from ..requests.request import Request
from ..requests.waiting import OTHERS_FIRST, Slices, Until, Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

HIGH_WATERMARK = -1
PENDING = -2
"""An outcome that is not known yet; not an error code."""

RequestPartition = DeleteRecordsRequest.DeleteRecordsPartition
PartitionResult = DeleteRecordsResponse.DeleteRecordsPartitionResult


WaitingPartitions = list[tuple[Partition, int, PartitionResult]]
"""Partitions that wait for their followers, with the offset and the result."""


def answer(node: HandlerContext, request: Request[DeleteRecordsRequest]) -> Wait[DeleteRecordsResponse]:
    waited: WaitingPartitions = []
    topics, slices = [], Slices()
    once = named_once(request.body.topics, attrgetter("name"), attrgetter("partitions"), attrgetter("partition_index"))
    for topic, named in once:
        partitions = []
        if slices.end():
            yield OTHERS_FIRST
        for requested in named:
            partitions.append(_delete(node, topic.name, requested, waited))
            if slices.end():
                yield OTHERS_FIRST
        topics.append(DeleteRecordsResponse.DeleteRecordsTopicResult(name=topic.name, partitions=partitions))
    response = DeleteRecordsResponse(topics=topics)
    return (yield from _done(node, request, response, waited)) if waited else response


def _done(
    node: HandlerContext,
    request: Request[DeleteRecordsRequest],
    response: DeleteRecordsResponse,
    waited: WaitingPartitions,
) -> Wait[DeleteRecordsResponse]:
    """Returns the response when the followers have the new log start offsets."""
    deadline = request.received + request.body.timeout_ms
    for partition, offset, answered in waited:
        while (code := _outcome(node, partition, offset)) == PENDING:
            if not (yield Until(deadline, (partition.waiters,))):
                code = error_codes.REQUEST_TIMED_OUT
                break
        answered.error_code = code
        if code != error_codes.REQUEST_TIMED_OUT:
            answered.low_watermark = -1 if code else _low_watermark(node, partition)
    return response


def _outcome(node: HandlerContext, partition: Partition, offset: int) -> int:
    """Returns the error code, or PENDING."""
    if partition.offline:
        return error_codes.KAFKA_STORAGE_ERROR
    if node.partitions.get(partition.topic, partition.index) is not partition:
        return node.partitions.code_of_missing(partition.topic, partition.index)
    return error_codes.NONE if _low_watermark(node, partition) >= offset else PENDING


def _low_watermark(node: HandlerContext, partition: Partition) -> int:
    return partition.low_watermark({broker.id for broker in node.image.live_brokers()})


def _delete(
    node: HandlerContext, topic: str, requested: RequestPartition, waited: WaitingPartitions
) -> PartitionResult:
    partition = node.partitions.get(topic, requested.partition_index)
    if partition is None:
        return _failed(requested, node.partitions.code_of_missing(topic, requested.partition_index))
    if topic in INTERNAL_TOPICS:
        return _failed(requested, error_codes.INVALID_TOPIC_EXCEPTION)
    if not partition.log.config.deletes:
        return _failed(requested, error_codes.POLICY_VIOLATION)
    if code := partition.check_epoch(ANY_EPOCH):
        return _failed(requested, code)
    offset = partition.high_watermark if requested.offset == HIGH_WATERMARK else requested.offset
    if not 0 <= offset <= partition.high_watermark:
        return _failed(requested, error_codes.OFFSET_OUT_OF_RANGE)
    try:
        partition.log.delete_records_before(offset)
    except DiskFailure:  # the node reports it
        return _failed(requested, error_codes.KAFKA_STORAGE_ERROR)
    partition.wake_waiters()
    answered = PartitionResult(partition_index=requested.partition_index, low_watermark=_low_watermark(node, partition))
    if answered.low_watermark < offset:
        waited.append((partition, offset, answered))
    return answered


def _failed(requested: RequestPartition, code: int) -> PartitionResult:
    return PartitionResult(partition_index=requested.partition_index, low_watermark=-1, error_code=code)


def refuse(request: Request[DeleteRecordsRequest], code: int, message: str | None) -> DeleteRecordsResponse:
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsResponse.DeleteRecordsTopicResult(
                name=topic.name, partitions=[_failed(requested, code) for requested in topic.partitions]
            )
            for topic in request.body.topics
        ]
    )
