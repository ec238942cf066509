"""UnregisterBroker: remove the registration of a broker; its replicas stay assigned (KIP-631).

A broker that is still alive stays out of the cluster until it registers again, after a restart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse

from ..controller.broker_changes import handle_broker_unregistered
from ..controller.controller_result import check_size
from ..requests.request import Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

Response = UnregisterBrokerResponse


def answer(node: HandlerContext, request: Request[UnregisterBrokerRequest]) -> Response | Wait[Response]:
    records = handle_broker_unregistered(node.controller.draft, request.body.broker_id, node.settings)
    check_size(len(records))
    return node.controller.write(records, Response())


def refuse(request: Request[UnregisterBrokerRequest], code: int, message: str | None) -> Response:
    return Response(error_code=code, error_message=message)
