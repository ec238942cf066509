"""UnregisterController: removes the registration of a controller, but not of the active
controller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.unregister_controller import (
    UnregisterControllerRequest,
    UnregisterControllerResponse,
)

from ..controller.controller_registration import unregister_controller
from ..requests.request import Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

Response = UnregisterControllerResponse


def answer(node: HandlerContext, request: Request[UnregisterControllerRequest]) -> Response | Wait[Response]:
    records = unregister_controller(node.controller.draft, node.id, request.body.controller_id)
    return node.controller.write(records, Response())


def refuse(request: Request[UnregisterControllerRequest], code: int, message: str | None) -> Response:
    return Response(error_code=code, error_message=message)
