"""Envelope: a broker forwards the request of a client to the active controller, with the client's
principal and address, and returns the response to the client (KIP-590).

The request inside must be forwardable and served on this listener. It is handled as if the client
had sent it here. An envelope whose principal, address or API is wrong has an error of its own;
bytes inside that cannot be read are UNSUPPORTED_VERSION, and the broker then closes the client's
connection. A response with NOT_CONTROLLER in it, and one of DescribeQuorum with
NOT_LEADER_OR_FOLLOWER, becomes the envelope's own NOT_CONTROLLER: the broker looks for the new
leader and sends the envelope again.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.default_principal_data import DefaultPrincipalData
from kafkadouble.messages.generated.envelope import EnvelopeRequest, EnvelopeResponse
from kafkadouble.messages.message import Message
from kafkadouble.wire.errors import WireError

from ..apis.served import FORWARDED
from ..requests.answer import Answer, Disconnection, without_frame
from ..requests.aside_codec import WIDE, aside_if
from ..requests.codec import MalformedRequest, read_head, read_request, served_api, write_response
from ..requests.request import IN_PROCESS_TAG, Peer, Refusal, Request
from ..requests.waiting import Wait
from ..tracing.history import errors_in
from ..tracing.trace import ABANDONED, ANSWERED, DISCONNECTED, UNANSWERED

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

VERSION_SIZE, SIZE_FIELD = 2, 4


def answer(node: HandlerContext, request: Request[EnvelopeRequest]) -> Wait[Answer]:
    inner = yield from aside_if(len(request.body.request_data) > WIDE, partial(_opened, request))
    if node.trace.is_on:
        node.trace.begin(inner, forwarded_from=None if request.trace is None else request.trace.cause)
    result = node.dispatch(inner)
    answer = (yield from _waited(node, inner, result)) if isinstance(result, Generator) else result
    return (yield from _closed(node, inner, without_frame(answer)))


def _waited(node: HandlerContext, inner: Request[Any], steps: Generator[Any, Any, Answer]) -> Wait[Answer]:
    if inner.trace is not None:
        inner.trace.waits()
    try:
        return (yield from steps)
    except GeneratorExit:
        _end_trace(node, inner, ABANDONED)
        raise


def _opened(envelope: Request[EnvelopeRequest]) -> Request[Any]:
    """The request inside. Refusal for an envelope that cannot be opened.

    A forwardable API that is not served here is UNSUPPORTED_VERSION too: the broker expected
    another controller.
    """
    peer = _client(envelope)
    data = bytes(envelope.body.request_data)
    try:
        head = read_head(data)
        if head.api_key not in FORWARDED:
            raise Refusal(error_codes.INVALID_REQUEST)
        return read_request(data, head, served_api(head, peer.apis), peer, envelope.received)
    except MalformedRequest:
        raise Refusal(error_codes.UNSUPPORTED_VERSION) from None


def _client(envelope: Request[EnvelopeRequest]) -> Peer:
    """The client of the broker. The envelope does not carry its port."""
    principal = _principal(envelope.body.request_principal)
    try:
        address = ip_address(bytes(envelope.body.client_host_address))
    except ValueError:
        raise Refusal(error_codes.INVALID_REQUEST) from None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    peer = Peer(envelope.peer.id, str(mapped or address), 0, envelope.peer.listener)
    peer.principal = f"{principal.type}:{principal.name}"
    peer.is_node = True
    peer.is_in_process = envelope.peer.is_in_process and IN_PROCESS_TAG in (envelope.body.unknown_tagged_fields or ())
    peer.may_ask_for_tokens = not principal.token_authenticated
    return peer


def _principal(data: bytes | bytearray | memoryview | None) -> DefaultPrincipalData:
    """The principal as Kafka's default builder writes it: a version of two bytes, then the
    message."""
    found = b"" if data is None else bytes(data)
    try:
        return DefaultPrincipalData.read(found, int.from_bytes(found[:VERSION_SIZE], "big"), VERSION_SIZE)[0]
    except WireError:
        raise Refusal(error_codes.PRINCIPAL_DESERIALIZATION_FAILURE) from None


def _closed(node: HandlerContext, inner: Request[Any], answer: Message | Disconnection | None) -> Wait[Answer]:
    """The answer in its envelope. No answer, and a disconnect, are passed on as they are."""
    if answer is None or isinstance(answer, Disconnection):
        _end_trace(node, inner, UNANSWERED if answer is None else DISCONNECTED)
        return answer
    try:
        data, has_moved = yield from aside_if(inner.size > WIDE, partial(_written, inner, answer))
    except Exception:
        _end_trace(node, inner, DISCONNECTED)
        raise
    _end_trace(node, inner, ANSWERED, answer, len(data))
    if has_moved:
        return EnvelopeResponse(error_code=error_codes.NOT_CONTROLLER)
    # Header and body, without the size that stands before them.
    return EnvelopeResponse(response_data=data[SIZE_FIELD:])


def _written(inner: Request[Any], answer: Message) -> tuple[bytes, bool]:
    """The frame of the answer, and whether it says that another node is the controller now."""
    moved = "NOT_LEADER_OR_FOLLOWER" if inner.api_key == ApiKeys.DESCRIBE_QUORUM else "NOT_CONTROLLER"
    return b"".join(write_response(inner, answer)), moved in errors_in(answer)


def _end_trace(
    node: HandlerContext, inner: Request[Any], outcome: str, answer: Any = None, size: int | None = None
) -> None:
    if inner.trace is not None:
        inner.trace.end(outcome, node.now, answer, size)
