"""ControllerRegistration: a controller reports its endpoints and features (KIP-919)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)

from ..controller.controller_registration import register_controller
from ..requests.request import Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

Response = ControllerRegistrationResponse


def answer(node: HandlerContext, request: Request[ControllerRegistrationRequest]) -> Response | Wait[Response]:
    records = register_controller(node.controller.draft, request.body)
    return node.controller.write(records, Response())


def refuse(request: Request[ControllerRegistrationRequest], code: int, message: str | None) -> Response:
    return Response(error_code=code, error_message=message)
