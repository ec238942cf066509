"""Envelope: a broker hands on what a client asked of it, and who the client is, and carries the answer back (KIP-590).

The request inside is one of the controllers' table, and takes the way of every other request, as if the client had sent it here itself; only
what is forwardable may stand inside. What is wrong with the envelope (the principal, the address, an API that is not forwardable) is told
apart from bytes inside that cannot be read: these are UNSUPPORTED_VERSION, upon which the broker ends its client's connection. An answer with
NOT_CONTROLLER in it, and one of DescribeQuorum with NOT_LEADER_OR_FOLLOWER, becomes the envelope's own NOT_CONTROLLER, so that the broker looks
for the leader and asks again.
"""

from __future__ import annotations

from collections.abc import Generator
from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes, headers
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.cut import cut_texts
from kafkadouble.messages.generated.default_principal_data import DefaultPrincipalData
from kafkadouble.messages.generated.envelope import EnvelopeRequest, EnvelopeResponse
from kafkadouble.messages.headers import RequestHead
from kafkadouble.wire.errors import UsageError, WireError

from .. import dispatch
from ..apis.served import FORWARDED
from ..requests.answer import Answer, Disconnect
from ..requests.bounds import MOST_ELEMENTS, has_too_many
from ..requests.request import Peer, Refusal, Request
from ..requests.waiting import Wait
from ..tracing.history import errors_in

if TYPE_CHECKING:
    from ..node import Node

VERSION_SIZE, SIZE_FIELD = 2, 4


def answer(node: Node, request: Request[EnvelopeRequest]) -> Answer | Wait[Answer]:
    inner = _opened(request)
    result = dispatch.answer(node, inner)
    return _waited(inner, result) if isinstance(result, Generator) else _closed(inner, result)


def _waited(inner: Request[Any], steps: Generator[Any, Any, Answer]) -> Wait[Answer]:
    return _closed(inner, (yield from steps))


def _opened(envelope: Request[EnvelopeRequest]) -> Request[Any]:
    """The request inside. Refusal for an envelope that cannot be opened."""
    peer = _client(envelope)
    data = bytes(envelope.body.request_data)
    head = _head(data)
    if head.api_key not in FORWARDED:
        raise Refusal(error_codes.INVALID_REQUEST)
    body = _body(data, head, peer)
    version, correlation_id = head.api_version, head.correlation_id
    return Request(
        head.api_key, version, correlation_id, head.client_id, body, peer, received=envelope.received, size=len(data)
    )


def _client(envelope: Request[EnvelopeRequest]) -> Peer:
    """Who asked the broker; the port is not told."""
    principal = _principal(envelope.body.request_principal)
    peer = Peer(envelope.peer.id, _host(envelope.body), 0, envelope.peer.listener, envelope.peer.apis)
    peer.principal = f"{principal.type}:{principal.name}"
    peer.may_ask_for_tokens = not principal.token_authenticated
    return peer


def _principal(data: bytes | bytearray | memoryview | None) -> DefaultPrincipalData:
    """As Kafka's own builder of principals writes one: a version of two bytes, then the message."""
    found = b"" if data is None else bytes(data)
    try:
        return DefaultPrincipalData.read(found, int.from_bytes(found[:VERSION_SIZE], "big"), VERSION_SIZE)[0]
    except WireError:
        raise Refusal(error_codes.PRINCIPAL_DESERIALIZATION_FAILURE) from None


def _host(envelope: EnvelopeRequest) -> str:
    try:
        address = ip_address(bytes(envelope.client_host_address))
    except ValueError:
        raise Refusal(error_codes.INVALID_REQUEST) from None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(mapped or address)


def _head(data: bytes) -> RequestHead:
    try:
        return headers.read_request_header(data, 0, MOST_ELEMENTS)
    except WireError:
        raise Refusal(error_codes.UNSUPPORTED_VERSION) from None


def _body(data: bytes, head: RequestHead, peer: Peer) -> Any:
    """Refusal(UNSUPPORTED_VERSION) also for one that is forwardable, and not served here: the broker counted on another controller."""
    served, version = peer.apis.get(head.api_key), head.api_version
    if served is None or not served.serves(version):
        raise Refusal(error_codes.UNSUPPORTED_VERSION)
    if has_too_many(served.request, data, head):
        raise Refusal(error_codes.UNSUPPORTED_VERSION)
    try:
        return served.request.read(data, version, head.body_offset)[0]
    except WireError:
        raise Refusal(error_codes.UNSUPPORTED_VERSION) from None


def _closed(inner: Request[Any], answer: Answer) -> Answer:
    """The answer in its envelope; no answer, or the end of the connection, is just that."""
    if answer is None or isinstance(answer, Disconnect):
        return answer
    moved = "NOT_LEADER_OR_FOLLOWER" if inner.api_key == ApiKeys.DESCRIBE_QUORUM else "NOT_CONTROLLER"
    if moved in errors_in(answer):
        return EnvelopeResponse(error_code=error_codes.NOT_CONTROLLER)
    return EnvelopeResponse(response_data=_written(inner, answer))


def _written(inner: Request[Any], answer: Any) -> bytes:
    """Header and body, as the client is to get them behind their size."""
    try:
        buffers = headers.write_response(answer, inner.correlation_id, inner.api_key, inner.version)
    except UsageError:
        if not cut_texts(answer):
            raise
        buffers = headers.write_response(answer, inner.correlation_id, inner.api_key, inner.version)
    return b"".join(buffers)[SIZE_FIELD:]


def refuse(request: Request[EnvelopeRequest], code: int, message: str | None) -> EnvelopeResponse:
    return EnvelopeResponse(error_code=code)
