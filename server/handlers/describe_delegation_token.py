"""DescribeDelegationToken: the tokens of an owner or renewer, with their HMACs (KIP-48).

A client on a PLAINTEXT connection gets DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, as in Apache Kafka,
and this product has no other connections. Brokers with other listeners return the tokens. Versions
1 and 2 differ in their encoding; version 3 has the requester of a token.
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
    from ..handler_context import HandlerContext


def answer(node: HandlerContext, request: Request[DescribeDelegationTokenRequest]) -> DescribeDelegationTokenResponse:
    raise Refusal(error_codes.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)


def refuse(
    request: Request[DescribeDelegationTokenRequest], code: int, message: str | None
) -> DescribeDelegationTokenResponse:
    return DescribeDelegationTokenResponse(error_code=code)
