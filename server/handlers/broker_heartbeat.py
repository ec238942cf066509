"""BrokerHeartbeat: a broker is alive and reports how much of the metadata it has read (KIP-631).

It also asks to be unfenced, to be fenced, or to shut down. Version 1 reports failed log directories
(KIP-858), version 2 cordoned ones (KIP-1066). `controller.broker_heartbeat` decides what follows.
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
    from ..handler_context import HandlerContext

Response = BrokerHeartbeatResponse


def answer(node: HandlerContext, request: Request[BrokerHeartbeatRequest]) -> Response | Wait[Response]:
    done = process_broker_heartbeat(broker_context_of(node), request.body)
    response = Response(
        is_caught_up=done.caught_up,
        is_fenced=done.state.fenced,
        should_shut_down=done.state is BrokerControlState.SHUTDOWN_NOW,
    )
    return node.controller.write(done.records, response)
