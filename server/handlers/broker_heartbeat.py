"""BrokerHeartbeat: a broker says that it lives, how far it has read the metadata, and what it wants: to be unfenced, fenced, to stop (KIP-631).

Version 1 tells of log directories that failed (KIP-858), 2 of those that take no new replicas (KIP-1066). What it brings about stands in
`metadata/broker_beats.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse

from ..controller.broker_context import broker_context_of
from ..controller.broker_control_state import BrokerControlState
from ..controller.broker_heartbeat import process_broker_heartbeat
from ..requests.request import Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..node import Node

Response = BrokerHeartbeatResponse


def answer(node: Node, request: Request[BrokerHeartbeatRequest]) -> Response | Wait[Response]:
    done = process_broker_heartbeat(broker_context_of(node), request.body)
    response = Response(
        is_caught_up=done.caught_up,
        is_fenced=done.state.fenced,
        should_shut_down=done.state is BrokerControlState.SHUTDOWN_NOW,
    )
    return node.controller.write(done.records, response)


def refuse(request: Request[BrokerHeartbeatRequest], code: int, message: str | None) -> Response:
    return Response(error_code=code)
