"""AlterShareGroupOffsets: sets the start offsets of a share group without members (KIP-932).

Each partition has its own error; INVALID_GROUP_ID and NON_EMPTY_GROUP are errors of the whole
request. As in Kafka, a topic that the client may not read is in the response with its id, and a
refused topic that occurs twice is there once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsResponse,
)
from kafkadouble.messages.uuid import Uuid

from ..groups.coordinator_group import SHARE
from ..groups.features import requires_protocol
from ..metadata.image import TopicImage
from ..requests.request import Request
from ..requests.waiting import OTHERS_FIRST, Slices, Wait
from ..security.acls import TOPIC
from ..security.authorizer import READ
from ..security.client_rights import client_rights

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

RequestPartition = AlterShareGroupOffsetsRequest.AlterShareGroupOffsetsRequestPartition
ResponsePartition = AlterShareGroupOffsetsResponse.AlterShareGroupOffsetsResponsePartition
ResponseTopic = AlterShareGroupOffsetsResponse.AlterShareGroupOffsetsResponseTopic


precheck = requires_protocol(SHARE)


def answer(
    node: HandlerContext, request: Request[AlterShareGroupOffsetsRequest]
) -> Wait[AlterShareGroupOffsetsResponse]:
    from ..groups.share.alter_offsets import alter_offsets, failed_partition

    known: dict[str, tuple[TopicImage, list[RequestPartition]]] = {}
    refused: dict[tuple[str, Uuid], list[ResponsePartition]] = {}
    rights, slices = client_rights(node, request), Slices()
    for topic in request.body.topics:
        if slices.end(1 + len(topic.partitions)):
            yield OTHERS_FIRST
        is_denied = rights is not None and not rights.may(READ, TOPIC, topic.topic_name)
        image = node.image.topic_named(topic.topic_name)
        if image is not None and not is_denied:
            known.setdefault(topic.topic_name, (image, []))[1].extend(topic.partitions)
            continue
        code = error_codes.TOPIC_AUTHORIZATION_FAILED if is_denied else error_codes.UNKNOWN_TOPIC_OR_PARTITION
        partitions = [failed_partition(each.partition_index, code) for each in topic.partitions]
        if partitions:
            topic_id = Uuid.ZERO if image is None else image.id
            refused.setdefault((topic.topic_name, topic_id), []).extend(partitions)
    group_id = request.body.group_id
    altered = yield from alter_offsets(node.groups.shard_of_named(group_id), group_id, known)
    return AlterShareGroupOffsetsResponse(responses=[*_topics(refused), *altered])


def _topics(refused: Mapping[tuple[str, Uuid], list[ResponsePartition]]) -> list[ResponseTopic]:
    return [
        ResponseTopic(topic_name=name, topic_id=topic_id, partitions=partitions)
        for (name, topic_id), partitions in refused.items()
    ]


def refuse(
    request: Request[AlterShareGroupOffsetsRequest], code: int, message: str | None
) -> AlterShareGroupOffsetsResponse:
    return AlterShareGroupOffsetsResponse(error_code=code, error_message=message or error_codes.meaning(code))
