"""DeleteRecords: move a partition's log start up to an offset (KIP-107).

-1 means the high watermark. The answer is the log start after it. Internal topics are INVALID_TOPIC_EXCEPTION, topics that are only compacted
POLICY_VIOLATION, an offset beyond the high watermark OFFSET_OUT_OF_RANGE. One replica has moved at once, so nobody waits.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.delete_records import DeleteRecordsRequest, DeleteRecordsResponse

from ..internal_topics import INTERNAL_TOPICS
from ..log.files.errors import DiskFailure
from ..named_once import named_once
from ..partition import ANY_EPOCH
from ..request import Request

if TYPE_CHECKING:
    from ..node import Node

HIGH_WATERMARK = -1

Asked = DeleteRecordsRequest.DeleteRecordsPartition
Answered = DeleteRecordsResponse.DeleteRecordsPartitionResult


def answer(node: Node, request: Request[DeleteRecordsRequest]) -> DeleteRecordsResponse:
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsResponse.DeleteRecordsTopicResult(
                name=topic.name, partitions=[_delete(node, topic.name, asked) for asked in partitions]
            )
            for topic, partitions in named_once(
                request.body.topics, attrgetter("name"), attrgetter("partitions"), attrgetter("partition_index")
            )
        ]
    )


def _delete(node: Node, topic: str, asked: Asked) -> Answered:
    partition = node.partitions.get(topic, asked.partition_index)
    if partition is None:
        return _failed(asked, error_codes.UNKNOWN_TOPIC_OR_PARTITION)
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
    partition.waiters.wake_all()
    return Answered(partition_index=asked.partition_index, low_watermark=partition.log.log_start_offset)


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
