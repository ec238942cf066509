"""CreateAcls: add ACLs (KIP-11, KIP-290).

Without an authorizer every ACL fails with SECURITY_DISABLED. With one, the error of one ACL does
not affect another; `security.acls` says which fails and why. An enum value of 0 (UNKNOWN) closes
the connection. Versions 1 to 3 differ only in their encoding and in the resource types that clients
of their time knew; controllers check these types, brokers do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.create_acls import CreateAclsRequest, CreateAclsResponse
from kafkadouble.messages.message import Message

from ..controller.acl_control import create_acls
from ..controller.decision import decided
from ..metadata.image import Image
from ..requests.answer import DISCONNECT, Disconnection
from ..requests.request import Refusal, Request
from ..requests.slices import begun
from ..requests.waiting import Wait, sliced

if TYPE_CHECKING:
    from ..handler_context import HandlerContext


def precheck(node: HandlerContext, request: Request[CreateAclsRequest]) -> Disconnection | None:
    """Ends the connection of a client that does not know what it creates."""
    creations = request.body.creations
    undecoded = any(0 in (a.resource_type, a.resource_pattern_type, a.operation, a.permission_type) for a in creations)
    return DISCONNECT if undecoded else None


@begun
def answer(node: HandlerContext, request: Request[CreateAclsRequest]) -> Wait[CreateAclsResponse | Disconnection]:
    creations = request.body.creations
    if not node.settings.text("authorizer.class.name"):
        raise Refusal(error_codes.SECURITY_DISABLED, "No Authorizer is configured.")

    def decide(image: Image) -> Wait[tuple[Sequence[Message], CreateAclsResponse]]:
        decision = yield from create_acls(image, creations, node.controller.new_id)
        return decision.records, CreateAclsResponse(results=(yield from sliced(_result, decision.results)))

    return (yield from decided(node.controller, decide))


def _result(refusal: Refusal | None) -> CreateAclsResponse.AclCreationResult:
    if refusal is None:
        return CreateAclsResponse.AclCreationResult()
    return CreateAclsResponse.AclCreationResult(error_code=refusal.code, error_message=refusal.message)


def refuse(request: Request[CreateAclsRequest], code: int, message: str | None) -> CreateAclsResponse:
    return CreateAclsResponse(results=[_result(Refusal(code, message)) for _ in request.body.creations])
