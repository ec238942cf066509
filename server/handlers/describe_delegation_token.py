"""DescribeDelegationToken: the tokens that somebody owns or may renew, with what proves them (KIP-48).

Who came by a connection in PLAINTEXT is told nothing but DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, in Apache Kafka as here; and here nobody
comes by another. Which tokens there are is told by brokers that have such listeners. Versions 1 and 2 differ in their encoding, 3 tells who
asked for a token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_delegation_token import (
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)

from ..requests.request import Refusal, Request

if TYPE_CHECKING:
    from ..node import Node


def answer(node: Node, request: Request[DescribeDelegationTokenRequest]) -> DescribeDelegationTokenResponse:
    raise Refusal(error_codes.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)


def refuse(
    request: Request[DescribeDelegationTokenRequest], code: int, message: str | None
) -> DescribeDelegationTokenResponse:
    return DescribeDelegationTokenResponse(error_code=code)
