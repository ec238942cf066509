"""JoinGroup: become, or stay, a member of a classic group; answered when the group has gathered (KIP-345, KIP-394, KIP-559, KIP-800, KIP-814).

From version 4 on a member without an id is given one and has to come again with it; from 5 on it may be static; from 7 on the answer names
the protocol type, and an absent protocol is null instead of empty; from 9 on a static leader may be told to assign nothing.

Where it differs from Apache Kafka: when a leader goes, the member that has been there longest leads (Kafka takes whichever its hash map has
first); of two requests of one member that wait both are answered (Kafka forgets the first).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.join_group import JoinGroupRequest, JoinGroupResponse

from ..groups.classic.join import join
from ..requests.request import Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..node import Node

NULL_PROTOCOL_FROM = 7


def answer(node: Node, request: Request[JoinGroupRequest]) -> JoinGroupResponse | Wait[JoinGroupResponse]:
    body = request.body
    if not body.group_id:
        return _refused(request, error_codes.INVALID_GROUP_ID)
    shortest, longest = (node.settings.int(f"group.{end}.session.timeout.ms") for end in ("min", "max"))
    if not shortest <= body.session_timeout_ms <= longest:
        return _refused(request, error_codes.INVALID_SESSION_TIMEOUT)
    promise = join(node.groups.shard(body.group_id), request)
    return _wait(request, promise.wait()) if promise.answer is None else _fit(request, promise.answer)


def _refused(request: Request[JoinGroupRequest], code: int) -> JoinGroupResponse:
    return _fit(request, JoinGroupResponse(error_code=code, member_id=request.body.member_id))


def _wait(request: Request[JoinGroupRequest], steps: Wait[JoinGroupResponse]) -> Wait[JoinGroupResponse]:
    return _fit(request, (yield from steps))


def _fit(request: Request[JoinGroupRequest], response: JoinGroupResponse) -> JoinGroupResponse:
    response.protocol_name = response.protocol_name or (None if request.version >= NULL_PROTOCOL_FROM else "")
    return response


def refuse(request: Request[JoinGroupRequest], code: int, message: str | None) -> JoinGroupResponse:
    return _fit(request, JoinGroupResponse(error_code=code))
