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

from ..controller.scram_credentials import describe_scram_credentials
from ..requests.request import Refusal, Request

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

Response = DescribeUserScramCredentialsResponse


def precheck(node: HandlerContext, request: Request[Any]) -> None:
    """Raises Refusal at a controller, which does not check the rights first."""
    if request.peer.is_at_controller:
        raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)


def answer(node: HandlerContext, request: Request[DescribeUserScramCredentialsRequest]) -> Response:
    precheck(node, request)
    described = describe_scram_credentials(node.image, [user.name for user in request.body.users or ()])
    return Response(
        results=[
            Response.DescribeUserScramCredentialsResult(
                user=each.user,
                error_code=each.error_code,
                error_message=each.error_message,
                credential_infos=[
                    Response.CredentialInfo(mechanism=mechanism, iterations=iterations)
                    for mechanism, iterations in each.credentials
                ],
            )
            for each in described
        ]
    )


def refuse(request: Request[DescribeUserScramCredentialsRequest], code: int, message: str | None) -> Response:
    """Fail every requested user; as in Kafka the results have no user names."""
    if code != error_codes.UNKNOWN_SERVER_ERROR:
        message = message or error_codes.meaning(code)
    failed = Response.DescribeUserScramCredentialsResult(error_code=code, error_message=message)
    return Response(error_code=code, error_message=message, results=[failed for _ in request.body.users or ()])
