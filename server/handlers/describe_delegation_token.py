"""DescribeDelegationToken: the tokens of an owner or renewer, with their HMACs (KIP-48, KIP-373).

- A client on a PLAINTEXT connection, or one that authenticated with a token, gets
  DELEGATION_TOKEN_REQUEST_NOT_ALLOWED. Without a secret key it is DELEGATION_TOKEN_AUTH_DISABLED.
- An owner or renewer sees its tokens. Others see them with DESCRIBE on the token or DESCRIBE_TOKENS
  on the user; without an authorizer every client may.
- Null owners mean all tokens, an empty list means none. Versions 1 and 2 differ in their encoding;
  version 3 has the requester of a token.
- Kafka's controllers advertise it and have no handler for it: UNKNOWN_SERVER_ERROR to any request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_delegation_token import (
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)

from ..controller.delegation_tokens import TokenSettings, token_settings_of
from ..controller.token_requests import check_token_request_allowed
from ..metadata.image import DelegationToken
from ..requests.request import Refusal, Request
from ..security.acls import OPERATIONS, RESOURCE_TYPES
from ..security.authorizer import DESCRIBE

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

DescribedToken = DescribeDelegationTokenResponse.DescribedDelegationToken
Renewer = DescribeDelegationTokenResponse.DescribedDelegationTokenRenewer

DESCRIBE_TOKENS = OPERATIONS.index("DESCRIBE_TOKENS")
TOKEN, USER = RESOURCE_TYPES.index("DELEGATION_TOKEN"), RESOURCE_TYPES.index("USER")


def answer(node: HandlerContext, request: Request[DescribeDelegationTokenRequest]) -> DescribeDelegationTokenResponse:
    if request.peer.is_at_controller:
        raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
    check_token_request_allowed(request)
    settings = token_settings_of(node.settings)
    if settings is None:
        raise Refusal(error_codes.DELEGATION_TOKEN_AUTH_DISABLED)
    owners = request.body.owners
    requested = None if owners is None else {f"{owner.principal_type}:{owner.principal_name}" for owner in owners}
    return DescribeDelegationTokenResponse(
        tokens=[
            _described(settings, token_id, token)
            for token_id, token in sorted(node.image.tokens.items())
            if (requested is None or requested & {token.owner, *token.renewers})
            and _may_describe(node, request, token_id, token)
        ]
    )


def _may_describe(
    node: HandlerContext, request: Request[DescribeDelegationTokenRequest], token_id: str, token: DelegationToken
) -> bool:
    principal = request.peer.principal
    if node.authorizer is None or principal in (token.owner, *token.renewers):
        return True
    client = principal, request.peer.host
    return node.authorizer.allows(node.image, client, DESCRIBE, TOKEN, token_id) or node.authorizer.allows(
        node.image, client, DESCRIBE_TOKENS, USER, token.owner
    )


def _described(settings: TokenSettings, token_id: str, token: DelegationToken) -> DescribedToken:
    owner, requester = token.owner.partition(":"), token.requester.partition(":")
    return DescribedToken(
        principal_type=owner[0],
        principal_name=owner[2],
        token_requester_principal_type=requester[0],
        token_requester_principal_name=requester[2],
        issue_timestamp=token.issue_timestamp,
        expiry_timestamp=token.expiration_timestamp,
        max_timestamp=token.max_timestamp,
        token_id=token_id,
        hmac=settings.proof(token_id),
        renewers=[
            Renewer(principal_type=kind, principal_name=name)
            for kind, _, name in (renewer.partition(":") for renewer in token.renewers)
        ],
    )
