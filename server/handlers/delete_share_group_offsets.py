"""DeleteShareGroupOffsets: deletes the offsets of topics of a share group without members
(KIP-932).

Each topic has its own error; INVALID_GROUP_ID, GROUP_ID_NOT_FOUND and NON_EMPTY_GROUP are errors of
the whole request.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
)

from ..groups.coordinator_group import SHARE
from ..groups.features import requires_protocol
from ..requests.request import Request
from ..requests.slices import divided
from ..requests.waiting import Wait
from ..security.acls import TOPIC
from ..security.authorizer import READ
from ..security.client_rights import client_rights

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

ResponseTopic = DeleteShareGroupOffsetsResponse.DeleteShareGroupOffsetsResponseTopic


precheck = requires_protocol(SHARE)


def answer(
    node: HandlerContext, request: Request[DeleteShareGroupOffsetsRequest]
) -> Wait[DeleteShareGroupOffsetsResponse]:
    from ..groups.share.delete_offsets import delete_offsets

    group_id = request.body.group_id
    names = list(dict.fromkeys(topic.topic_name for topic in request.body.topics))
    rights = client_rights(node, request)
    allowed, denied = names, list[str]()
    if rights is not None:
        allowed, denied = yield from divided(partial(rights.may, READ, TOPIC), names)
    responses = yield from delete_offsets(node.groups.shard_of_named(group_id), group_id, allowed)
    return DeleteShareGroupOffsetsResponse(responses=[*map(_denied, denied), *responses])


def _denied(name: str) -> ResponseTopic:
    code = error_codes.TOPIC_AUTHORIZATION_FAILED
    return ResponseTopic(topic_name=name, error_code=code, error_message=error_codes.meaning(code))


def refuse(
    request: Request[DeleteShareGroupOffsetsRequest], code: int, message: str | None
) -> DeleteShareGroupOffsetsResponse:
    return DeleteShareGroupOffsetsResponse(error_code=code, error_message=message or error_codes.meaning(code))
