"""FindCoordinator: the coordinator of a group, a transactional id or a share partition (KIP-98).

From version 4 on a request has many keys of one type, and each key has its own error (KIP-699);
before that it has one key. Share partitions exist from version 6 on (KIP-932). The internal topic
is created if it does not exist; `coordinator_lookup` says how this differs from Apache Kafka.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse

from ..coordinator.coordinator_lookup import GROUP, SHARE, TOPICS, TRANSACTION, CoordinatorEndpoint, coordinator_of
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait, sliced
from ..security import acls
from ..security.authorizer import CLUSTER_ACTION, DESCRIBE
from ..security.client_rights import client_rights

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

Coordinator = FindCoordinatorResponse.Coordinator

BATCH_FROM = 4
SHARE_FROM = 6

RESOURCE_OF = {GROUP: acls.GROUP, TRANSACTION: acls.TRANSACTIONAL_ID}
"""Key type -> the type of the resource that the client must be allowed to describe."""


def answer(node: HandlerContext, request: Request[FindCoordinatorRequest]) -> Wait[FindCoordinatorResponse]:
    body = request.body
    if body.key_type not in TOPICS:
        raise Refusal(error_codes.INVALID_REQUEST)
    if body.key_type == SHARE and request.version >= SHARE_FROM:
        rights = client_rights(node, request)
        if rights is not None and body.coordinator_keys and not rights.may_on_cluster(CLUSTER_ACTION):
            raise Refusal(error_codes.CLUSTER_AUTHORIZATION_FAILED)
    if request.version >= BATCH_FROM:
        coordinators = yield from sliced(lambda key: _find_key(node, request, key), body.coordinator_keys)
        return FindCoordinatorResponse(coordinators=coordinators)
    endpoint = _find(node, request, body.key)
    return FindCoordinatorResponse(error_message="NONE", node_id=endpoint.id, host=endpoint.host, port=endpoint.port)


def _find(node: HandlerContext, request: Request[FindCoordinatorRequest], key: str) -> CoordinatorEndpoint:
    key_type = request.body.key_type
    if key_type == SHARE and request.version < SHARE_FROM:
        raise Refusal(error_codes.INVALID_REQUEST)
    if (rights := client_rights(node, request)) is not None and key_type != SHARE:
        rights.require(DESCRIBE, RESOURCE_OF[key_type], key)
    return coordinator_of(node.controller, key_type, key, request.peer.listener.name)


def _find_key(node: HandlerContext, request: Request[FindCoordinatorRequest], key: str) -> Coordinator:
    try:
        endpoint = _find(node, request, key)
    except Refusal as refusal:
        return Coordinator(key=key, error_code=refusal.code, node_id=-1, port=-1)
    return Coordinator(key=key, node_id=endpoint.id, host=endpoint.host, port=endpoint.port)


def refuse(request: Request[FindCoordinatorRequest], code: int, message: str | None) -> FindCoordinatorResponse:
    message = message or error_codes.meaning(code)
    if request.version < BATCH_FROM:
        return FindCoordinatorResponse(error_code=code, error_message=message, node_id=-1, port=-1)
    return FindCoordinatorResponse(
        coordinators=[
            Coordinator(key=key, error_code=code, error_message=message, node_id=-1, port=-1)
            for key in request.body.coordinator_keys
        ]
    )
