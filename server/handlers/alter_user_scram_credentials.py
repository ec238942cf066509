"""AlterUserScramCredentials: set and delete SCRAM credentials of users (KIP-554).

The error of one user does not affect another; a user that occurs twice fails.
`controller.scram_credentials` says which user fails and why. Credentials are stored; no listener
uses them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
)

from ..controller.scram_credentials import ScramUserResult, alter_scram_credentials
from ..requests.request import Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext


def answer(
    node: HandlerContext, request: Request[AlterUserScramCredentialsRequest]
) -> AlterUserScramCredentialsResponse | Wait[AlterUserScramCredentialsResponse]:
    body = request.body
    decision = alter_scram_credentials(node.controller.draft, body.deletions, body.upsertions)
    response = AlterUserScramCredentialsResponse(results=[_result(altered) for altered in decision.results])
    return node.controller.write(decision.records, response)


def _result(altered: ScramUserResult) -> AlterUserScramCredentialsResponse.AlterUserScramCredentialsResult:
    return AlterUserScramCredentialsResponse.AlterUserScramCredentialsResult(**altered._asdict())


def refuse(
    request: Request[AlterUserScramCredentialsRequest], code: int, message: str | None
) -> AlterUserScramCredentialsResponse:
    body = request.body
    users = sorted({each.name for each in body.deletions} | {each.name for each in body.upsertions})
    return AlterUserScramCredentialsResponse(results=[_result(ScramUserResult(user, code, message)) for user in users])
