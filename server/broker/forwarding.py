"""Forwards requests of clients that only the active controller can handle, in an Envelope, and
returns its answer (KIP-590).

The broker of the active controller handles them itself. A broker also handles the parts of a
request that concern only itself: the levels of its loggers, and the checks of its own
configurations; it forwards the rest. It refuses requests for delegation tokens that are not allowed
on the connection.
"""

from __future__ import annotations

from copy import copy
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, cast

from kafkadouble.messages import error_codes, headers
from kafkadouble.messages.generated.default_principal_data import DefaultPrincipalData
from kafkadouble.messages.generated.envelope import EnvelopeRequest, EnvelopeResponse
from kafkadouble.messages.message import Message

from ..requests.answer import DISCONNECT, Answer, Disconnection
from ..requests.aside_codec import WIDE, aside_if
from ..requests.request import IN_PROCESS_TAG, OWNER, Refusal, Request
from ..requests.waiting import Until, Wait, Waiters

if TYPE_CHECKING:
    from .host import BrokerHost
    from .node_to_controller_channel import NodeToControllerChannel

SIZE_FIELD, PRINCIPAL_VERSION = 4, 0
DEADLINE_MS = 60_000


def is_forwarded(node: BrokerHost, request: Request[Any]) -> bool:
    """Whether another node handles this request."""
    return (
        request.peer.apis[request.api_key].row.forwarded
        and not node.controller.leads
        and not request.peer.is_at_controller
    )


def forwarded(node: BrokerHost, channel: NodeToControllerChannel, request: Request[Any]) -> Wait[Answer]:
    """The active controller's answer. Refusal if there is none in time."""
    served = request.peer.apis[request.api_key]
    if served.admit is not None:
        served.admit(request)
    if served.preprocess is None:
        return (yield from _send_to_controller(node, channel, request, request.body))
    done, left = yield from served.preprocess(node, request)
    body = copy(request.body)
    body.resources = left
    if done and not left:
        response: Any = served.api.response()
    else:
        response = yield from _send_to_controller(node, channel, request, body)
    if not isinstance(response, Disconnection):
        response.responses = [*done, *response.responses]
    return cast("Answer", response)


def _send_to_controller(
    node: BrokerHost, channel: NodeToControllerChannel, request: Request[Any], body: Message
) -> Wait[Answer]:
    answers: list[Any] = []
    arrived = Waiters()

    def done(response: Any) -> None:
        answers.append(response)
        arrived.wake()

    envelope = yield from aside_if(request.size > WIDE, partial(_envelope, request, body))
    if node.authorizer is not None and (request.peer.id == OWNER or request.peer.is_in_process):
        envelope.unknown_tagged_fields = {IN_PROCESS_TAG: b""}
    channel.send_request(envelope, 0, done, cause=request.trace)
    while not answers:
        if not (yield Until(request.received + DEADLINE_MS, (arrived,))):
            raise Refusal(error_codes.REQUEST_TIMED_OUT)
    is_wide = answers[0] is not None and len(answers[0].response_data or b"") > WIDE
    return (yield from aside_if(is_wide, partial(_response_in_envelope, request, answers[0])))


def _envelope(request: Request[Any], body: Message) -> EnvelopeRequest:
    whole = b"".join(headers.write_request(body, request.correlation_id, request.client_id, request.version))
    kind, _, name = request.peer.principal.partition(":")
    principal = DefaultPrincipalData(type=kind, name=name, token_authenticated=_is_by_token(request)).encode(
        PRINCIPAL_VERSION
    )
    return EnvelopeRequest(
        request_data=whole[SIZE_FIELD:],
        request_principal=PRINCIPAL_VERSION.to_bytes(2, "big") + principal,
        client_host_address=_packed_address(request.peer.host),
    )


def _is_by_token(request: Request[Any]) -> bool:
    """Whether the client authenticated with a delegation token."""
    return request.peer.authenticator is not None and not request.peer.may_ask_for_tokens


def _packed_address(host: str) -> bytes:
    try:
        return ip_address(host).packed
    except ValueError:
        return bytes(4)


def _response_in_envelope(request: Request[Any], response: EnvelopeResponse | None) -> Answer:
    if response is None or response.error_code == error_codes.UNSUPPORTED_VERSION:
        return DISCONNECT
    if response.error_code:  # an error of the envelope, which the client does not know
        raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
    data = bytes(response.response_data or b"")
    return headers.read_response(data, request.api_key, request.version)[1]
