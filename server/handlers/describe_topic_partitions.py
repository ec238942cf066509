"""DescribeTopicPartitions: topics and partitions in pages, with eligible leader replicas (KIP-966).

Topics are returned by name, from the cursor on; no topics in the request means all. The response
has at most `response_partition_limit` partitions, at most max.request.partition.size.limit, and at
least one; `next_cursor` is where the next page begins. If the request lists topics, the cursor's
topic must be one of them. A topic that does not exist does not count against the limit, and is left
out if all topics were requested.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import partial
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
)

from ..metadata import views
from ..metadata.image import Image, PartitionImage, TopicImage
from ..metadata.internal_topics import INTERNAL_TOPICS
from ..metadata.topic_names import problem_with_name
from ..requests.request import Refusal, Request
from ..requests.slices import begun, ordered
from ..requests.waiting import OTHERS_FIRST, Slices, Wait, sliced
from ..security.acls import TOPIC
from ..security.authorizer import DESCRIBE
from ..security.client_rights import ClientRights, authorized_operations, client_rights

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

Body = DescribeTopicPartitionsRequest
Topic = DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic
Partition = DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition
Cursor = DescribeTopicPartitionsResponse.Cursor


@begun
def answer(node: HandlerContext, request: Request[Body]) -> Wait[DescribeTopicPartitionsResponse]:
    body, image, slices = request.body, node.image, Slices()
    response = DescribeTopicPartitionsResponse(topics=(topics := []))
    rights = client_rights(node, request)
    names = yield from ordered(_topic_names(image, body))
    may = partial(_may_describe, rights)
    allowed = [name for name, is_allowed in zip(names, (yield from sliced(may, names)), strict=True) if is_allowed]
    left = max(1, min(body.response_partition_limit, node.settings.int("max.request.partition.size.limit")))
    for name in allowed:
        if slices.end():
            yield OTHERS_FIRST
        if left == 0:
            response.next_cursor = Cursor(topic_name=name, partition_index=0)
            break
        topic = image.topic_named(name)
        if topic is None:
            topics.append(_unknown(name, rights))
            continue
        first = body.cursor.partition_index if body.cursor is not None and body.cursor.topic_name == name else 0
        shown = topic.in_order()[first : first + left]
        partitions = yield from sliced(partial(_partition, image, request), shown, slices)
        topics.append(_topic(topic, partitions, rights))
        if first + len(shown) < len(topic.partitions):
            response.next_cursor = Cursor(topic_name=name, partition_index=first + len(shown))
            break
        left -= len(shown)
    if body.topics and len(allowed) < len(names):
        topics += yield from sliced(_denied, (name for name in names if not may(name)), slices)
    return response


def _may_describe(rights: ClientRights | None, name: str) -> bool:
    return rights is None or rights.may(DESCRIBE, TOPIC, name)


def _denied(name: str) -> Topic:
    return Topic(error_code=error_codes.TOPIC_AUTHORIZATION_FAILED, name=name)


def _topic_names(image: Image, body: Body) -> Iterable[str]:
    """The topic names from the cursor on."""
    requested: Collection[str] = {topic.name for topic in body.topics} if body.topics else image.topic_ids
    if body.cursor is None:
        return requested
    if body.cursor.partition_index < 0 or (body.topics and body.cursor.topic_name not in requested):
        raise Refusal(error_codes.INVALID_REQUEST)
    first = body.cursor.topic_name
    return (name for name in requested if name >= first)


def _unknown(name: str, rights: ClientRights | None) -> Topic:
    if not name:
        return Topic(error_code=error_codes.UNKNOWN_SERVER_ERROR, name=name)  # Kafka fails over it
    unknown, invalid = error_codes.UNKNOWN_TOPIC_OR_PARTITION, error_codes.INVALID_TOPIC_EXCEPTION
    return Topic(
        error_code=invalid if problem_with_name(name) else unknown,
        name=name,
        is_internal=name in INTERNAL_TOPICS,
        topic_authorized_operations=authorized_operations(rights, TOPIC, name),
    )


def _topic(topic: TopicImage, partitions: list[Partition], rights: ClientRights | None) -> Topic:
    return Topic(
        name=topic.name,
        topic_id=topic.id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=partitions,
        topic_authorized_operations=authorized_operations(rights, TOPIC, topic.name),
    )


def _partition(image: Image, request: Request[Body], numbered: tuple[int, PartitionImage]) -> Partition:
    index, partition = numbered
    seen = views.view_partition(image, partition, request.peer.listener.name)
    return Partition(
        partition_index=index,
        leader_id=seen.leader,
        leader_epoch=seen.leader_epoch,
        replica_nodes=seen.replicas,
        isr_nodes=seen.isr,
        eligible_leader_replicas=list(partition.elr),
        last_known_elr=list(partition.last_known_elr),
        offline_replicas=seen.offline,
    )


def refuse(request: Request[Body], code: int, message: str | None) -> DescribeTopicPartitionsResponse:
    return DescribeTopicPartitionsResponse(
        topics=[Topic(error_code=code, name=topic.name) for topic in request.body.topics]
    )
