"""The sender of a request: the principal of its client, and the mechanism by which it logged in.

Rules. A login itself is sent by the principal that the client says it is, whether that is true or
not. Without SASL there is no mechanism.
"""

from __future__ import annotations

from typing import Any

from kafkadouble.messages.api_keys import ApiKeys

from .request import Request


def principal_of(request: Request[Any]) -> str:
    """A type and a name, such as `User:alice`."""
    peer = request.peer
    if peer.authenticator is None or request.api_key != ApiKeys.SASL_AUTHENTICATE:
        return peer.principal
    claimed: str = peer.authenticator.claimed(bytes(request.body.auth_bytes))
    return claimed


def mechanism_of(request: Request[Any]) -> str:
    """The name of the mechanism; empty if there is none."""
    if request.peer.authenticator is None:
        return ""
    found = request.body if request.api_key == ApiKeys.SASL_HANDSHAKE else request.peer.authenticator
    return str(found.mechanism)
