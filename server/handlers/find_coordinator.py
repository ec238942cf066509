"""FindCoordinator: who coordinates a group, a transactional id or a share partition (KIP-98, KIP-699, KIP-932).

Version 4 on asks for many keys of one type and is answered key by key; before that one key is the request. Share partitions come with
version 6. The topic that is asked after is created if need be; see `coordinator/placement.py` for where that differs from Apache Kafka.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse

from ..coordinator.placement import SHARE, TOPICS, Broker, coordinator_of
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait, sliced

if TYPE_CHECKING:
    from ..node import Node

Coordinator = FindCoordinatorResponse.Coordinator

MANY_KEYS_FROM = 4
SHARE_FROM = 6
NOBODY = Broker(-1, "", -1)


def answer(node: Node, request: Request[FindCoordinatorRequest]) -> Wait[FindCoordinatorResponse]:
    body = request.body
    if body.key_type not in TOPICS:
        raise Refusal(error_codes.INVALID_REQUEST)
    if request.version >= MANY_KEYS_FROM:
        found = yield from sliced(lambda key: _found(node, request, key), body.coordinator_keys)
        return FindCoordinatorResponse(coordinators=found)
    broker = _find(node, request, body.key)
    return FindCoordinatorResponse(error_message="NONE", node_id=broker.id, host=broker.host, port=broker.port)


def _find(node: Node, request: Request[FindCoordinatorRequest], key: str) -> Broker:
    key_type = request.body.key_type
    if key_type == SHARE and request.version < SHARE_FROM:
        raise Refusal(error_codes.INVALID_REQUEST)
    return coordinator_of(node, key_type, key, request.peer.listener)


def _found(node: Node, request: Request[FindCoordinatorRequest], key: str) -> Coordinator:
    try:
        broker = _find(node, request, key)
    except Refusal as refusal:
        return Coordinator(key=key, error_code=refusal.code, node_id=-1, port=-1)
    return Coordinator(key=key, node_id=broker.id, host=broker.host, port=broker.port)


def refuse(request: Request[FindCoordinatorRequest], code: int, message: str | None) -> FindCoordinatorResponse:
    message = message or error_codes.meaning(code)
    if request.version < MANY_KEYS_FROM:
        return FindCoordinatorResponse(error_code=code, error_message=message, node_id=-1, port=-1)
    return FindCoordinatorResponse(
        coordinators=[
            Coordinator(key=key, error_code=code, error_message=message, node_id=-1, port=-1)
            for key in request.body.coordinator_keys
        ]
    )
