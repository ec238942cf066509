"""AlterUserScramCredentials: set and delete SCRAM credentials of users (KIP-554).

The error of one user does not affect another; a user that occurs twice fails.
`controller.scram_credentials` says which user fails and why. Credentials are stored; no listener
uses them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages.generated.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
)
from kafkadouble.messages.message import Message

from ..controller.decision import decided
from ..controller.scram_credentials import ScramUserResult, alter_scram_credentials
from ..metadata.image import Image
from ..requests.request import Request
from ..requests.waiting import Wait, begun, sliced

if TYPE_CHECKING:
    from ..handler_context import HandlerContext


@begun
def answer(
    node: HandlerContext, request: Request[AlterUserScramCredentialsRequest]
) -> Wait[AlterUserScramCredentialsResponse]:
    body = request.body

    def decide(image: Image) -> Wait[tuple[Sequence[Message], AlterUserScramCredentialsResponse]]:
        decision = yield from alter_scram_credentials(image, body.deletions, body.upsertions)
        results = yield from sliced(_result, decision.results)
        return decision.records, AlterUserScramCredentialsResponse(results=results)

    return (yield from decided(node.controller, decide))


def _result(altered: ScramUserResult) -> AlterUserScramCredentialsResponse.AlterUserScramCredentialsResult:
    return AlterUserScramCredentialsResponse.AlterUserScramCredentialsResult(**altered._asdict())


def refuse(
    request: Request[AlterUserScramCredentialsRequest], code: int, message: str | None
) -> AlterUserScramCredentialsResponse:
    body = request.body
    users = sorted({each.name for each in body.deletions} | {each.name for each in body.upsertions})
    return AlterUserScramCredentialsResponse(results=[_result(ScramUserResult(user, code, message)) for user in users])
