"""JoinGroup: a client joins or rejoins a classic group (KIP-345, KIP-394, KIP-559, KIP-800).

The response is sent when the join phase of the rebalance completes. From version 4 on a client
without a member id gets one and joins again with it; from 5 on it may be static; from 7 on the
response has the protocol type, and a missing protocol is null instead of empty; from 9 on the
response may tell a static leader to skip the assignment (KIP-814).

Differences from Apache Kafka: when the leader leaves, the longest-standing member becomes the
leader (Kafka takes the first in its hash map). If two requests of one member wait, both are
answered (Kafka forgets the first).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.join_group import JoinGroupRequest, JoinGroupResponse

from ..groups.service.classic_requests import join
from ..requests.request import Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

NULL_PROTOCOL_FROM = 7
LEAST_SESSION, MOST_SESSION = "group.min.session.timeout.ms", "group.max.session.timeout.ms"


def answer(node: HandlerContext, request: Request[JoinGroupRequest]) -> JoinGroupResponse | Wait[JoinGroupResponse]:
    body = request.body
    if not body.group_id:
        return _failed(request, error_codes.INVALID_GROUP_ID)
    least, most = node.settings.int(LEAST_SESSION), node.settings.int(MOST_SESSION)
    if not least <= body.session_timeout_ms <= most:
        return _failed(request, error_codes.INVALID_SESSION_TIMEOUT)
    future = join(node.groups.shard(body.group_id), request)
    return _wait(request, future.wait()) if future.response is None else _fit(request, future.response)


def _failed(request: Request[JoinGroupRequest], code: int) -> JoinGroupResponse:
    return _fit(request, JoinGroupResponse(error_code=code, member_id=request.body.member_id))


def _wait(request: Request[JoinGroupRequest], steps: Wait[JoinGroupResponse]) -> Wait[JoinGroupResponse]:
    return _fit(request, (yield from steps))


def _fit(request: Request[JoinGroupRequest], response: JoinGroupResponse) -> JoinGroupResponse:
    response.protocol_name = response.protocol_name or (None if request.version >= NULL_PROTOCOL_FROM else "")
    return response


def refuse(request: Request[JoinGroupRequest], code: int, message: str | None) -> JoinGroupResponse:
    return _fit(request, JoinGroupResponse(error_code=code))
