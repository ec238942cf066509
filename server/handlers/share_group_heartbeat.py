"""ShareGroupHeartbeat: joins, stays in or leaves a share group (KIP-932).

The client makes the member id, of at most 36 characters. The member says what it subscribes to; the
response says which partitions it may fetch from. Partitions that the group has never read get a
state at the share coordinator after the response, and are assigned by a later heartbeat.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse

from ..groups.coordinator_group import SHARE
from ..groups.features import requires_protocol
from ..java.strings import java_length
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait
from ..security.acls import TOPIC
from ..security.authorizer import DESCRIBE
from ..security.client_rights import client_rights

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

JOIN, LEAVE = 0, -1
"""The member epochs of a member that is not in the group, or will not be."""

MAX_MEMBER_ID_LENGTH = 36


precheck = requires_protocol(SHARE)


def answer(
    node: HandlerContext, request: Request[ShareGroupHeartbeatRequest]
) -> ShareGroupHeartbeatResponse | Wait[ShareGroupHeartbeatResponse]:
    if not 0 < java_length(request.body.member_id) <= MAX_MEMBER_ID_LENGTH:
        raise Refusal(error_codes.INVALID_REQUEST)
    if (rights := client_rights(node, request)) is not None:
        rights.require_all(DESCRIBE, TOPIC, request.body.subscribed_topic_names or ())
    _validate(request.body)
    from ..groups.share.heartbeat import heartbeat, leave

    shard = node.groups.shard(request.body.group_id)
    leaves = request.body.member_epoch == LEAVE
    return shard.when_committed(leave(shard, request.body) if leaves else heartbeat(shard, request))


def _validate(body: ShareGroupHeartbeatRequest) -> None:
    """Raises Refusal(INVALID_REQUEST)."""
    for value, name in ((body.member_id, "MemberId"), (body.group_id, "GroupId"), (body.rack_id, "RackId")):
        if value is not None and not value.strip():
            raise Refusal(error_codes.INVALID_REQUEST, f"{name} can't be empty.")
    if body.member_epoch == JOIN and not body.subscribed_topic_names:
        raise Refusal(error_codes.INVALID_REQUEST, "SubscribedTopicNames must be set in first request.")
    if body.member_epoch < LEAVE:
        raise Refusal(error_codes.INVALID_REQUEST, "MemberEpoch is invalid.")
