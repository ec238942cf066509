"""OffsetForLeaderEpoch: the end offset of a leader epoch in a log (KIP-101, KIP-279, KIP-320).

The response has the largest epoch in the log that is not above the requested one, and its end
offset; -1 and -1 if there is none. A wrong `current_leader_epoch` is FENCED_LEADER_EPOCH or
UNKNOWN_LEADER_EPOCH.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)

from ..requests.request import Request
from ..requests.waiting import OTHERS_FIRST, Slices, Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

RequestPartition = OffsetForLeaderEpochRequest.OffsetForLeaderPartition
EpochEndOffset = OffsetForLeaderEpochResponse.EpochEndOffset


def answer(node: HandlerContext, request: Request[OffsetForLeaderEpochRequest]) -> Wait[OffsetForLeaderEpochResponse]:
    topics, slices = [], Slices()
    for topic in request.body.topics:
        partitions = []
        if slices.end():
            yield OTHERS_FIRST
        for requested in topic.partitions:
            partitions.append(_look_up(node, topic.topic, requested))
            if slices.end():
                yield OTHERS_FIRST
        topics.append(OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult(topic=topic.topic, partitions=partitions))
    return OffsetForLeaderEpochResponse(topics=topics)


def _look_up(node: HandlerContext, topic: str, requested: RequestPartition) -> EpochEndOffset:
    partition = node.partitions.get(topic, requested.partition)
    if partition is None:
        code = node.partitions.code_of_missing(topic, requested.partition, requested.current_leader_epoch)
        return EpochEndOffset(partition=requested.partition, error_code=code)
    if code := partition.check_epoch(requested.current_leader_epoch):
        return EpochEndOffset(partition=requested.partition, error_code=code)
    end = partition.log.end_offset_for_epoch(requested.leader_epoch)
    return EpochEndOffset(partition=requested.partition, leader_epoch=end.epoch, end_offset=end.offset)


def refuse(
    request: Request[OffsetForLeaderEpochRequest], code: int, message: str | None
) -> OffsetForLeaderEpochResponse:
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=[
                    EpochEndOffset(partition=requested.partition, error_code=code) for requested in topic.partitions
                ],
            )
            for topic in request.body.topics
        ]
    )
