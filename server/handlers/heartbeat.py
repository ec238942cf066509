"""Heartbeat: a member of a classic group lives, and asks whether its generation still holds (KIP-345).

REBALANCE_IN_PROGRESS tells it to join again; the sign of life counts all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.heartbeat import HeartbeatRequest, HeartbeatResponse

from ..groups.classic.heartbeat import heartbeat
from ..requests.request import Request

if TYPE_CHECKING:
    from ..node import Node


def answer(node: Node, request: Request[HeartbeatRequest]) -> HeartbeatResponse:
    heartbeat(node.groups.shard_of_named(request.body.group_id), request.body)
    return HeartbeatResponse()


def refuse(request: Request[HeartbeatRequest], code: int, message: str | None) -> HeartbeatResponse:
    return HeartbeatResponse(error_code=code)
