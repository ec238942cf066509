"""Who may ask for delegation tokens (KIP-48).

Rules. Nobody may who came by a connection in PLAINTEXT, since a token is a password; nor he who proved himself by a token, lest one that is
stolen beget others. Listeners here are PLAINTEXT, those of brokers and those of controllers: so only he may for whom a broker speaks in an
Envelope, and that broker has seen to it how he came.
"""

from __future__ import annotations

from typing import Any

from kafkadouble.messages import error_codes

from .metadata.delegation_tokens import Principal
from .request import Refusal, Request


def check_peer(request: Request[Any]) -> None:
    """Refusal(DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)."""
    if not request.peer.may_ask_for_tokens:
        raise Refusal(error_codes.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)


def requester_of(request: Request[Any]) -> Principal:
    kind, _, name = request.peer.principal.partition(":")
    return Principal(kind, name)
