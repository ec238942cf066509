"""SyncGroup: the leader of a classic group brings the assignment, every member takes its own home (KIP-345, KIP-559).

Answered when the leader's assignment is stored. From version 5 on the member has to name protocol type and protocol, and is told them.

Where it differs from Apache Kafka: a member that is removed while it waits is told UNKNOWN_MEMBER_ID (Kafka leaves its request unanswered).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.sync_group import SyncGroupRequest, SyncGroupResponse

from ..groups.classic.sync import sync
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..node import Node

NAMES_PROTOCOL_FROM = 5


def answer(node: Node, request: Request[SyncGroupRequest]) -> SyncGroupResponse | Wait[SyncGroupResponse]:
    body = request.body
    if request.version >= NAMES_PROTOCOL_FROM and None in (body.protocol_type, body.protocol_name):
        raise Refusal(error_codes.INCONSISTENT_GROUP_PROTOCOL)
    promise = sync(node.groups.shard_of_named(body.group_id), body)
    return promise.wait() if promise.answer is None else promise.answer


def refuse(request: Request[SyncGroupRequest], code: int, message: str | None) -> SyncGroupResponse:
    return SyncGroupResponse(error_code=code)
