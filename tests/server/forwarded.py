"""The answer that a client gets from a controller, for a request that a broker forwards
(KIP-590)."""

from __future__ import annotations

from typing import Any

from kafkadouble.messages import headers
from kafkadouble.messages.generated.default_principal_data import DefaultPrincipalData
from kafkadouble.messages.generated.envelope import EnvelopeRequest
from kafkadouble.messages.message import Message
from tests.server.controllers import Controllers

SIZE_FIELD = 4


def ask_as(cluster: Controllers, body: Message, version: int, user: str, *, by_token: bool = False) -> Any:
    """The answer. `by_token`: the client has authenticated with a delegation token."""
    answer = cluster.ask(cluster.leader, envelope(body, version, user, by_token=by_token), 0)
    assert answer.error_code == 0, answer
    return headers.read_response(bytes(answer.response_data), body.api_key or 0, version)[1]


def envelope(body: Message, version: int, user: str, *, by_token: bool = False) -> EnvelopeRequest:
    """The request of a client as a broker forwards it."""
    kind, _, name = user.partition(":")
    principal = DefaultPrincipalData(type=kind, name=name, token_authenticated=by_token)
    return EnvelopeRequest(
        request_data=b"".join(headers.write_request(body, 7, "client", version))[SIZE_FIELD:],
        request_principal=(0).to_bytes(2, "big") + principal.encode(0),
        client_host_address=bytes([10, 0, 0, 7]),
    )
