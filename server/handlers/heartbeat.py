"""Heartbeat: extends the session of a classic group's member and checks its generation (KIP-345).

REBALANCE_IN_PROGRESS tells the member to rejoin; its session is extended all the same.

- v3: the request may have the instance id of a static member (KIP-345).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.heartbeat import HeartbeatRequest, HeartbeatResponse

from ..groups.service.classic_requests import heartbeat
from ..requests.request import Request

if TYPE_CHECKING:
    from ..handler_context import HandlerContext


def answer(node: HandlerContext, request: Request[HeartbeatRequest]) -> HeartbeatResponse:
    heartbeat(node.groups.shard_of_named(request.body.group_id), request.body)
    return HeartbeatResponse()
