"""DeleteRecords: move a partition's log start up to an offset (KIP-107).

-1 means the high watermark. The answer is the log start after it. Internal topics are INVALID_TOPIC_EXCEPTION, topics that are only compacted
POLICY_VIOLATION, an offset beyond the high watermark OFFSET_OUT_OF_RANGE. The answer comes when all replicas of brokers that are alive begin
there, or is REQUEST_TIMED_OUT; a replica alone does at once.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.delete_records import DeleteRecordsRequest, DeleteRecordsResponse

from ..log.files.errors import DiskFailure
from ..metadata.internal_topics import INTERNAL_TOPICS
from ..replica.partition import ANY_EPOCH, Partition
from ..requests.named_once import named_once
from ..requests.request import Request
from ..requests.waiting import OTHERS_FIRST, Slices, Until, Wait

if TYPE_CHECKING:
    from ..node import Node

HIGH_WATERMARK = -1
PENDING = -2
"""No error code."""

Asked = DeleteRecordsRequest.DeleteRecordsPartition
Answered = DeleteRecordsResponse.DeleteRecordsPartitionResult


Waited = list[tuple[Partition, int, Answered]]
"""Partitions whose followers are to begin at an offset, too, with what is answered of them."""


def answer(node: Node, request: Request[DeleteRecordsRequest]) -> Wait[DeleteRecordsResponse]:
    waited: Waited = []
    topics, slices = [], Slices()
    once = named_once(request.body.topics, attrgetter("name"), attrgetter("partitions"), attrgetter("partition_index"))
    for topic, named in once:
        partitions = []
        for asked in named:
            partitions.append(_delete(node, topic.name, asked, waited))
            if slices.end():
                yield OTHERS_FIRST
        topics.append(DeleteRecordsResponse.DeleteRecordsTopicResult(name=topic.name, partitions=partitions))
    response = DeleteRecordsResponse(topics=topics)
    return (yield from _done(node, request, response, waited)) if waited else response


def _done(
    node: Node, request: Request[DeleteRecordsRequest], response: DeleteRecordsResponse, waited: Waited
) -> Wait[DeleteRecordsResponse]:
    """The answer, once the followers have done the same."""
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


def _outcome(node: Node, partition: Partition, offset: int) -> int:
    """Kafka's error code, or PENDING."""
    if partition.offline:
        return error_codes.KAFKA_STORAGE_ERROR
    if node.partitions.get(partition.topic, partition.index) is not partition:
        return node.partitions.code_of_missing(partition.topic, partition.index)
    return error_codes.NONE if _low_watermark(node, partition) >= offset else PENDING


def _low_watermark(node: Node, partition: Partition) -> int:
    return partition.low_watermark({broker.id for broker in node.controller.image.live_brokers()})


def _delete(node: Node, topic: str, asked: Asked, waited: Waited) -> Answered:
    partition = node.partitions.get(topic, asked.partition_index)
    if partition is None:
        return _failed(asked, node.partitions.code_of_missing(topic, asked.partition_index))
    if topic in INTERNAL_TOPICS:
        return _failed(asked, error_codes.INVALID_TOPIC_EXCEPTION)
    if not partition.log.config.deletes:
        return _failed(asked, error_codes.POLICY_VIOLATION)
    if code := partition.check_epoch(ANY_EPOCH):
        return _failed(asked, code)
    offset = partition.high_watermark if asked.offset == HIGH_WATERMARK else asked.offset
    if not 0 <= offset <= partition.high_watermark:
        return _failed(asked, error_codes.OFFSET_OUT_OF_RANGE)
    try:
        partition.log.delete_records_before(offset)
    except DiskFailure:  # the node tells of it
        return _failed(asked, error_codes.KAFKA_STORAGE_ERROR)
    partition.wake_waiters()
    answered = Answered(partition_index=asked.partition_index, low_watermark=_low_watermark(node, partition))
    if answered.low_watermark < offset:
        waited.append((partition, offset, answered))
    return answered


def _failed(asked: Asked, code: int) -> Answered:
    return Answered(partition_index=asked.partition_index, low_watermark=-1, error_code=code)


def refuse(request: Request[DeleteRecordsRequest], code: int, message: str | None) -> DeleteRecordsResponse:
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsResponse.DeleteRecordsTopicResult(
                name=topic.name, partitions=[_failed(asked, code) for asked in topic.partitions]
            )
            for topic in request.body.topics
        ]
    )
