"""AlterUserScramCredentials: set and delete what users prove themselves with (KIP-554).

Users do not suffer from one another; one who stands twice fails. Which user fails why stands in `metadata/scram_credentials.py`. Credentials
are kept; no listener asks for them.
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
    from ..node import Node


def answer(
    node: Node, request: Request[AlterUserScramCredentialsRequest]
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
