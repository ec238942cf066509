"""DescribeAcls: the ACLs that match a filter, by resource (KIP-140, KIP-290).

Without an authorizer the request fails with SECURITY_DISABLED. An enum value of 0 (UNKNOWN) closes
the connection; any other value without a meaning matches nothing. Versions 1 to 3 differ only in
their encoding and in the resource types that clients of their time knew.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_acls import DescribeAclsRequest, DescribeAclsResponse

from ..metadata.image import Acl
from ..requests.answer import DISCONNECT, Disconnection
from ..requests.request import Refusal, Request
from ..requests.slices import begun
from ..requests.waiting import OTHERS_FIRST, Slices, Wait
from ..security.acls import is_undecoded, matching_acls

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

Response = DescribeAclsResponse


def precheck(node: HandlerContext, request: Request[DescribeAclsRequest]) -> Disconnection | None:
    """Ends the connection of a client that does not know what it asks for."""
    return DISCONNECT if is_undecoded(request.body) else None


@begun
def answer(node: HandlerContext, request: Request[DescribeAclsRequest]) -> Wait[Response | Disconnection]:
    if not node.settings.text("authorizer.class.name"):
        raise Refusal(error_codes.SECURITY_DISABLED, "No Authorizer is configured on the broker")
    found = yield from matching_acls(node.image, request.body)
    patterns, slices = [], Slices()
    for of, acls in groupby((acl for acl, _ in found), _pattern):
        patterns.append(_resource(*of, list(acls)))
        if slices.end(1 + len(patterns[-1].acls)):
            yield OTHERS_FIRST
    return Response(resources=patterns)


def _pattern(acl: Acl) -> tuple[int, str, int]:
    return acl.resource_type, acl.resource_name, acl.pattern_type


def _resource(kind: int, name: str, pattern_type: int, acls: list[Acl]) -> Response.DescribeAclsResource:
    return Response.DescribeAclsResource(
        resource_type=kind,
        resource_name=name,
        pattern_type=pattern_type,
        acls=[
            Response.AclDescription(
                principal=acl.principal, host=acl.host, operation=acl.operation, permission_type=acl.permission_type
            )
            for acl in dict.fromkeys(acls)
        ],
    )


def refuse(request: Request[DescribeAclsRequest], code: int, message: str | None) -> Response:
    return Response(error_code=code, error_message=message or error_codes.meaning(code))
