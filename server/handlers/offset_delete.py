"""OffsetDelete: deletes the committed offsets of a group for some partitions (KIP-496).

NON_EMPTY_GROUP and GROUP_ID_NOT_FOUND are errors of the whole request. A topic to which a member of
the group subscribes fails with GROUP_SUBSCRIBED_TO_TOPIC, and a topic that does not exist with
UNKNOWN_TOPIC_OR_PARTITION. The response is sent when the deletion is committed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from kafkadouble.messages.uuid import Uuid

from ..groups.requested_topics import resolve_topic
from ..groups.service.deletion import delete_offsets
from ..requests.request import Request
from ..requests.slices import begun
from ..requests.waiting import OTHERS_FIRST, Slices, Wait
from ..security.acls import TOPIC
from ..security.authorizer import READ
from ..security.client_rights import client_rights

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

RequestTopic = OffsetDeleteRequest.OffsetDeleteRequestTopic
ResponseTopic = OffsetDeleteResponse.OffsetDeleteResponseTopic
ResponsePartition = OffsetDeleteResponse.OffsetDeleteResponsePartition


@begun
def answer(node: HandlerContext, request: Request[OffsetDeleteRequest]) -> Wait[OffsetDeleteResponse]:
    shard = node.groups.shard_of_named(request.body.group_id)
    responses: dict[str, list[ResponsePartition]] = {}
    known = []
    rights, slices = client_rights(node, request), Slices()
    for topic in request.body.topics:
        if slices.end(1 + len(topic.partitions)):
            yield OTHERS_FIRST
        if rights is not None and not rights.may(READ, TOPIC, topic.name):
            denied = [
                _failed(each.partition_index, error_codes.TOPIC_AUTHORIZATION_FAILED) for each in topic.partitions
            ]
            responses.setdefault(topic.name, []).extend(denied)
            continue
        indexes = [partition.partition_index for partition in topic.partitions]
        resolved = resolve_topic(node.image, topic.name, Uuid.ZERO, False, indexes)
        unknown = [index for index in indexes if resolved.code or index in resolved.unknown]
        if unknown:
            code = error_codes.UNKNOWN_TOPIC_OR_PARTITION
            responses.setdefault(topic.name, []).extend(_failed(index, code) for index in unknown)
        if len(unknown) < len(indexes):
            good = [partition for partition in topic.partitions if partition.partition_index not in resolved.unknown]
            known.append(RequestTopic(name=topic.name, partitions=good))
    for deleted in delete_offsets(shard, request.body.group_id, known):
        responses.setdefault(deleted.name, []).extend(deleted.partitions)
    topics = [ResponseTopic(name=name, partitions=partitions) for name, partitions in responses.items()]
    return (yield from shard.wait_for_commit(OffsetDeleteResponse(topics=topics)))


def _failed(index: int, code: int) -> ResponsePartition:
    return ResponsePartition(partition_index=index, error_code=code)
