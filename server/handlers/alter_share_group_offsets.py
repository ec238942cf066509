"""AlterShareGroupOffsets: sets the start offsets of a share group without members (KIP-932).

Each partition has its own error; INVALID_GROUP_ID and NON_EMPTY_GROUP are errors of the whole
request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsResponse,
)

from ..groups.coordinator_group import SHARE
from ..groups.features import refuse_without_protocol
from ..metadata.image import TopicImage
from ..requests.request import Request
from ..requests.waiting import OTHERS_FIRST, Slices, Wait
from ..security.acls import TOPIC
from ..security.authorizer import READ
from ..security.client_rights import client_rights

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

RequestPartition = AlterShareGroupOffsetsRequest.AlterShareGroupOffsetsRequestPartition
ResponseTopic = AlterShareGroupOffsetsResponse.AlterShareGroupOffsetsResponseTopic


def precheck(node: HandlerContext, request: Request[Any]) -> None:
    """Raises Refusal if the cluster does not have these groups."""
    refuse_without_protocol(node, SHARE)


def answer(
    node: HandlerContext, request: Request[AlterShareGroupOffsetsRequest]
) -> Wait[AlterShareGroupOffsetsResponse]:
    refuse_without_protocol(node, SHARE)
    from ..groups.share.alter_offsets import alter_offsets, failed_partition

    known: dict[str, tuple[TopicImage, list[RequestPartition]]] = {}
    refused: list[ResponseTopic] = []
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
        refused.append(ResponseTopic(topic_name=topic.topic_name, partitions=partitions))
    group_id = request.body.group_id
    altered = yield from alter_offsets(node.groups.shard_of_named(group_id), group_id, known)
    return AlterShareGroupOffsetsResponse(responses=[*refused, *altered])


def refuse(
    request: Request[AlterShareGroupOffsetsRequest], code: int, message: str | None
) -> AlterShareGroupOffsetsResponse:
    return AlterShareGroupOffsetsResponse(error_code=code, error_message=message or error_codes.meaning(code))
