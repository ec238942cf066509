"""DescribeUserScramCredentials: the SCRAM mechanisms and iterations of users (KIP-554).

The response never has salts or keys. A null or empty list of users means all. A user that occurs
twice, or has no credential, fails alone. Kafka's controllers advertise it and have no handler for
it: UNKNOWN_SERVER_ERROR to any request, whatever the rights of the client.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
)

from ..controller.scram_credentials import ScramUserDescription, describe_scram_credentials
from ..requests.request import Refusal, Request
from ..requests.slices import begun
from ..requests.waiting import Wait, sliced

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

Response = DescribeUserScramCredentialsResponse


def precheck(node: HandlerContext, request: Request[Any]) -> None:
    """Raises Refusal at a controller, which does not check the rights first."""
    if request.peer.is_at_controller:
        raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)


@begun
def answer(node: HandlerContext, request: Request[DescribeUserScramCredentialsRequest]) -> Wait[Response]:
    described = yield from describe_scram_credentials(node.image, [user.name for user in request.body.users or ()])
    return Response(results=(yield from sliced(_result, described)))


def _result(described: ScramUserDescription) -> Response.DescribeUserScramCredentialsResult:
    return Response.DescribeUserScramCredentialsResult(
        user=described.user,
        error_code=described.error_code,
        error_message=described.error_message,
        credential_infos=[
            Response.CredentialInfo(mechanism=mechanism, iterations=iterations)
            for mechanism, iterations in described.credentials
        ],
    )


def refuse(request: Request[DescribeUserScramCredentialsRequest], code: int, message: str | None) -> Response:
    """Fails every requested user; as in Kafka the results have no user names."""
    if code != error_codes.UNKNOWN_SERVER_ERROR:
        message = message or error_codes.meaning(code)
    failed = Response.DescribeUserScramCredentialsResult(error_code=code, error_message=message)
    return Response(error_code=code, error_message=message, results=[failed for _ in request.body.users or ()])
