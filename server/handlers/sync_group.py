"""SyncGroup: the leader of a classic group sends the assignments, and each member gets its own.

The response is sent when the assignments are committed (KIP-345). From version 5 on the request
must name the protocol type and the protocol, and the response has them (KIP-559).

- v3: the request may have the instance id of a static member (KIP-345).

Difference from Apache Kafka: a member that is removed while it waits gets UNKNOWN_MEMBER_ID (Kafka
never answers its request).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.sync_group import SyncGroupRequest, SyncGroupResponse

from ..groups.service.classic_requests import sync
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

PROTOCOL_REQUIRED_FROM = 5


def precheck(node: HandlerContext, request: Request[SyncGroupRequest]) -> None:
    """Raises Refusal for a request without a protocol."""
    if request.version >= PROTOCOL_REQUIRED_FROM and None in (request.body.protocol_type, request.body.protocol_name):
        raise Refusal(error_codes.INCONSISTENT_GROUP_PROTOCOL)


def answer(node: HandlerContext, request: Request[SyncGroupRequest]) -> SyncGroupResponse | Wait[SyncGroupResponse]:
    body = request.body
    future = sync(node.groups.shard_of_named(body.group_id), body)
    return future.wait() if future.response is None else future.response
