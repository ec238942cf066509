"""DescribeProducers: the producer states of partitions, at the leader or at a follower (KIP-664).

Difference from Apache Kafka: a partition that the request repeats is answered each time, as in
Kafka, until the response would become long; then it gets INVALID_REQUEST (`repeats`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_producers import DescribeProducersRequest, DescribeProducersResponse

from ..metadata.topic_names import problem_with_name
from ..replica.replication.partition import ANY_EPOCH
from ..requests.repeats import Repeats
from ..requests.request import Request
from ..requests.waiting import OTHERS_FIRST, Slices, Wait
from ..security.acls import TOPIC
from ..security.authorizer import READ
from ..security.client_rights import client_rights

if TYPE_CHECKING:
    from ..handler_context import HandlerContext
    from ..replica.replication.follower_partition import FollowerPartition
    from ..replica.replication.partition import Partition

PartitionResponse = DescribeProducersResponse.PartitionResponse
DENIED = error_codes.TOPIC_AUTHORIZATION_FAILED


def answer(node: HandlerContext, request: Request[DescribeProducersRequest]) -> Wait[DescribeProducersResponse]:
    repeats, topics, slices = Repeats[PartitionResponse](), [], Slices()
    rights = client_rights(node, request)
    for topic in request.body.topics:
        partitions = []
        if slices.end():
            yield OTHERS_FIRST
        is_denied = rights is not None and not rights.may(READ, TOPIC, topic.name)
        for index in topic.partition_indexes:
            if is_denied and problem_with_name(topic.name) is None:
                partitions.append(_failed(index, DENIED, error_codes.meaning(DENIED)))
            else:
                partitions.append(_answer(node, topic.name, index, repeats))
            if slices.end():
                yield OTHERS_FIRST
        if slices.end():
            yield OTHERS_FIRST
        topics.append(DescribeProducersResponse.TopicResponse(name=topic.name, partitions=partitions))
    return DescribeProducersResponse(topics=topics)


def _answer(node: HandlerContext, topic: str, index: int, repeats: Repeats[PartitionResponse]) -> PartitionResponse:
    found = repeats.answer((topic, index), lambda: _describe(node, topic, index))
    code = error_codes.INVALID_REQUEST
    return _failed(index, code, error_codes.meaning(code)) if found is None else found


def _describe(node: HandlerContext, topic: str, index: int) -> PartitionResponse:
    if (problem := problem_with_name(topic)) is not None:
        return _failed(index, error_codes.INVALID_TOPIC_EXCEPTION, problem)
    partition: Partition | FollowerPartition | None = node.partitions.get(topic, index)
    if partition is None and node.fetchers is not None:
        partition = node.fetchers.get(topic, index)
    if partition is None:
        code = node.partitions.code_of_missing(topic, index)
        known_topic = topic in node.image.topic_ids
        return _failed(index, code, None if known_topic else error_codes.meaning(code))
    if code := partition.check_epoch(ANY_EPOCH):
        return _failed(index, code, error_codes.meaning(code))
    producers = [
        DescribeProducersResponse.ProducerState(
            producer_id=producer.producer_id,
            producer_epoch=producer.epoch,
            last_sequence=producer.last_sequence,
            last_timestamp=producer.last_timestamp,
            coordinator_epoch=producer.coordinator_epoch,
            current_txn_start_offset=producer.transaction_start,
        )
        for producer in partition.log.producers
    ]
    return PartitionResponse(partition_index=index, active_producers=producers)


def _failed(index: int, code: int, message: str | None) -> PartitionResponse:
    return PartitionResponse(partition_index=index, error_code=code, error_message=message)


def refuse(request: Request[DescribeProducersRequest], code: int, message: str | None) -> DescribeProducersResponse:
    return DescribeProducersResponse(
        topics=[
            DescribeProducersResponse.TopicResponse(
                name=topic.name, partitions=[_failed(index, code, message) for index in topic.partition_indexes]
            )
            for topic in request.body.topics
        ]
    )
