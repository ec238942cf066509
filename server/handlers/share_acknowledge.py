"""ShareAcknowledge: a member of a share group says what became of the records that it acquired
(KIP-932).

The response is sent when the share coordinator has stored the new states. From version 2 on a
member may renew acquisition locks, and the response has their duration (KIP-1222). The request
belongs to the member's share session and counts as one of it; epoch -1 ends the session, and
releases what the member still has.

A partition whose acknowledgements are wrong is INVALID_REQUEST or INVALID_RECORD_STATE, and changes
nothing. The messages of these errors are close to Kafka's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafkadouble.messages.generated.share_acknowledge import ShareAcknowledgeRequest, ShareAcknowledgeResponse
from kafkadouble.messages.uuid import Uuid

from ..metadata.views import endpoints
from ..requests.request import Refusal, Request
from ..requests.waiting import OTHERS_FIRST, Slices, Wait, sliced
from ..security.client_rights import may_read_topics
from ..share.share_requests import WRONG_LEADER, Acknowledgements, check_group, requested_partitions, session_key
from ..share.share_session import FINAL_EPOCH, TopicIdPartition

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

PartitionData = ShareAcknowledgeResponse.PartitionData


def precheck(node: HandlerContext, request: Request[ShareAcknowledgeRequest]) -> None:
    """Raises Refusal for a request without a group."""
    check_group(node.image, request.body.group_id)


def answer(node: HandlerContext, request: Request[ShareAcknowledgeRequest]) -> Wait[ShareAcknowledgeResponse]:
    body = request.body
    key = session_key(body.group_id, body.member_id)
    node.share_partitions.update_session(key, body.share_session_epoch)
    acknowledgements = Acknowledgements(node.share_partitions, node.image, key, may_read_topics(node, request))
    requested = dict((yield from sliced(lambda each: each, requested_partitions(node.image, body.topics))))
    yield from acknowledgements.begin(requested, request.version, is_renew_ack=body.is_renew_ack)
    yield from acknowledgements.end()
    if body.share_session_epoch == FINAL_EPOCH:
        node.share_partitions.release_session(key)
    return (yield from _response(node, request, acknowledgements.results, key.group_id))


def _response(
    node: HandlerContext,
    request: Request[ShareAcknowledgeRequest],
    results: Mapping[TopicIdPartition, Refusal | None],
    group_id: str,
) -> Wait[ShareAcknowledgeResponse]:
    topics: dict[Uuid, list[PartitionData]] = {}
    leaders, slices = set(), Slices()
    for partition, error in results.items():
        if slices.end():
            yield OTHERS_FIRST
        data = PartitionData(partition_index=partition.partition)
        if error is not None:
            data.error_code, data.error_message = error.code, error.message
        if data.error_code in WRONG_LEADER:
            leader, epoch = node.partitions.leader_of(partition.topic or "", partition.partition)
            data.current_leader = ShareAcknowledgeResponse.LeaderIdAndEpoch(leader_id=leader, leader_epoch=epoch)
            leaders.add(leader)
        topics.setdefault(partition.topic_id, []).append(data)
    return ShareAcknowledgeResponse(
        acquisition_lock_timeout_ms=node.share_partitions.configs.of(group_id).record_lock_duration_ms,
        responses=[
            ShareAcknowledgeResponse.ShareAcknowledgeTopicResponse(topic_id=topic_id, partitions=partitions)
            for topic_id, partitions in topics.items()
        ],
        node_endpoints=endpoints(
            node.image, request.peer.listener.name, leaders, ShareAcknowledgeResponse.NodeEndpoint
        ),
    )


def refuse(request: Request[ShareAcknowledgeRequest], code: int, message: str | None) -> ShareAcknowledgeResponse:
    return ShareAcknowledgeResponse(error_code=code)
