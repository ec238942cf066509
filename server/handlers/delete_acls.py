"""DeleteAcls: delete the ACLs that match filters, and return them (KIP-140, KIP-290).

Without an authorizer every filter fails with SECURITY_DISABLED. With one, the error of one filter
does not affect another; an ACL that matches several filters is returned for each. An enum value of
0 (UNKNOWN) closes the connection; any other value without a meaning is INVALID_REQUEST. Versions 1
to 3 differ only in their encoding and in the resource types that clients of their time knew.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.delete_acls import DeleteAclsRequest, DeleteAclsResponse
from kafkadouble.messages.message import Message

from ..controller.acl_control import AclDeleteResult, delete_acls
from ..controller.decision import decided
from ..metadata.image import Image
from ..requests.answer import DISCONNECT, Disconnection
from ..requests.request import Refusal, Request
from ..requests.slices import begun
from ..requests.waiting import OTHERS_FIRST, Slices, Wait
from ..security.acls import AclFilter, is_undecoded

if TYPE_CHECKING:
    from ..handler_context import HandlerContext


def precheck(node: HandlerContext, request: Request[DeleteAclsRequest]) -> Disconnection | None:
    """Ends the connection of a client that does not know what it deletes."""
    return DISCONNECT if any(map(is_undecoded, request.body.filters)) else None


@begun
def answer(node: HandlerContext, request: Request[DeleteAclsRequest]) -> Wait[DeleteAclsResponse | Disconnection]:
    filters = request.body.filters
    if not node.settings.text("authorizer.class.name"):
        raise Refusal(error_codes.SECURITY_DISABLED, "No Authorizer is configured.")
    return (yield from decided(node.controller, partial(_decide, filters)))


def _decide(filters: Sequence[AclFilter], image: Image) -> Wait[tuple[Sequence[Message], DeleteAclsResponse]]:
    removals, deleted = yield from delete_acls(image, filters)
    results, slices = [], Slices()
    for each in deleted:
        results.append(_result(each))
        if slices.end(1 + len(each.found)):
            yield OTHERS_FIRST
    return removals, DeleteAclsResponse(filter_results=results)


def _result(deleted: AclDeleteResult) -> DeleteAclsResponse.DeleteAclsFilterResult:
    of, refusal = DeleteAclsResponse, deleted.refusal
    return of.DeleteAclsFilterResult(
        error_code=error_codes.NONE if refusal is None else refusal.code,
        error_message=None if refusal is None else refusal.message,
        matching_acls=[of.DeleteAclsMatchingAcl(error_message=None, **acl._asdict()) for acl in deleted.found],
    )


def refuse(request: Request[DeleteAclsRequest], code: int, message: str | None) -> DeleteAclsResponse:
    failed = AclDeleteResult([], Refusal(code, message))
    return DeleteAclsResponse(filter_results=[_result(failed) for _ in request.body.filters])
