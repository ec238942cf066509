"""Reads and writes frames: the headers of requests and responses, written by hand to be fast.

A frame that is read begins after the four bytes of size; a frame that is written includes them.
Header versions come from the registry. As in Kafka, a null client id is read as an empty one, a
client id that is not UTF-8 is accepted, and in request header 2 the client id keeps its two bytes
of length. This file does not read bodies; it passes them to their messages.
"""

from __future__ import annotations

import struct

from kafkadouble.wire.errors import Truncated, UnknownMessage, UsageError, WireError
from kafkadouble.wire.tagged import MOST as MOST_TAGS
from kafkadouble.wire.tagged import read_unknown, skip_tags

from . import registry
from .api_keys import ApiKeys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .message import Buffer, Message

_HEAD = struct.Struct(">hhih").unpack_from
_CORRELATION = struct.Struct(">i").unpack_from
_REQUEST = struct.Struct(">ihhih")
_RESPONSE = struct.Struct(">ii")
_SHORTEST = 10
_FLEXIBLE_FROM = {
    api.key: 1 << 15 if api.request_entry.flexible_from is None else api.request_entry.flexible_from
    for api in registry.apis()
}
# the first version with response header 1
_TAGGED_FROM = {**_FLEXIBLE_FROM, ApiKeys.API_VERSIONS: 1 << 15}


class RequestHead:
    """A request's header; `body_offset` is the position of the body in the frame, `tags` the number
    of tagged fields."""

    __slots__ = ("api_key", "api_version", "body_offset", "client_id", "correlation_id", "tags")

    def __init__(
        self, api_key: int, api_version: int, correlation_id: int, client_id: str, body_offset: int, tags: int = 0
    ) -> None:
        self.api_key, self.api_version, self.correlation_id = api_key, api_version, correlation_id
        self.client_id, self.body_offset, self.tags = client_id, body_offset, tags

    def __repr__(self) -> str:
        name = registry.api(self.api_key).name if self.api_key in _FLEXIBLE_FROM else f"API {self.api_key}"
        return f"RequestHead({name} version {self.api_version}, correlation {self.correlation_id}, client {self.client_id!r})"


class UnknownRequest(UnknownMessage):
    """A header with an unknown API key. It holds the fields before the client id; the client id and
    the body were not read."""

    def __init__(self, api_key: int, api_version: int, correlation_id: int, offset: int) -> None:
        super().__init__(f"no API has the key {api_key}", offset=offset, path="RequestHeader.request_api_key")
        self.api_key, self.api_version, self.correlation_id = api_key, api_version, correlation_id


def read_request_header(frame: bytes, offset: int = 0, most_tags: int = MOST_TAGS) -> RequestHead:
    """The header at `offset`. An unsupported version is no error here, as in Kafka: the caller
    answers it.

    Raises UnknownRequest, with key, version and correlation id, when no API has the key; Truncated
    when the header is incomplete; TooLarge when it announces more than `most_tags` tagged fields.
    """
    count = 0
    try:
        key, version, correlation, size = _HEAD(frame, offset)
        p = offset + _SHORTEST
        end = p + size if size > 0 else p
        flexible_from = _FLEXIBLE_FROM.get(key)
        if flexible_from is None:
            raise UnknownRequest(key, version, correlation, offset)
        if version >= flexible_from:
            if frame[end]:
                count, body = skip_tags(frame, end, most_tags)
            else:
                body = end + 1
        else:
            body = end
    except (struct.error, IndexError):
        raise Truncated("the bytes end inside the header", offset=len(frame), path="RequestHeader") from None
    except WireError as error:
        error.path = error.path or "RequestHeader"
        raise
    if body > len(frame):
        raise Truncated("the bytes end inside the client id", offset=p, path="RequestHeader.client_id")
    return RequestHead(key, version, correlation, frame[p:end].decode("utf-8", "replace"), body, count)


def write_request(request: Message, correlation_id: int, client_id: str | None, version: int) -> list[Buffer]:
    """A whole request with its size in front, as buffers for `sendmsg`. UsageError when a value
    does not fit."""
    if request.kind != "request" or request.api_key is None:
        raise UsageError(f"{type(request).__name__} is not a request")
    key = request.api_key
    body = request.parts(version)
    client = b"" if client_id is None else client_id.encode()
    tags = b"\0" if version >= _FLEXIBLE_FROM[key] else b""
    size = 10 + len(client) + len(tags) + sum(map(len, body))
    try:
        head = _REQUEST.pack(size, key, version, correlation_id, -1 if client_id is None else len(client))
    except struct.error as error:
        raise UsageError(f"the header does not fit: {error}") from None
    return _joined(head + client + tags, body)


def write_response(response: Message, correlation_id: int, api_key: int, version: int) -> list[Buffer]:
    """A whole response with its size in front, as buffers for `sendmsg`. UsageError when a value
    does not fit."""
    body = response.parts(version)
    tagged_from = _TAGGED_FROM.get(api_key)
    if tagged_from is None:
        raise UnknownMessage(f"no API has the key {api_key}")
    tags = b"\0" if version >= tagged_from else b""
    size = 4 + len(tags)
    for part in body:
        size += len(part)
    try:
        head = _RESPONSE.pack(size, correlation_id)
    except struct.error as error:
        raise UsageError(f"the header does not fit: {error}") from None
    return _joined(head + tags, body)


def read_response(frame: bytes, api_key: int, version: int, offset: int = 0) -> tuple[int, Message]:
    """The correlation id and the response. An ApiVersions response that cannot be read as `version`
    is read as version 0 (KIP-511)."""
    api = registry.api(api_key)
    try:
        correlation = _CORRELATION(frame, offset)[0]
        body = offset + 4
        if api.response_header_version(version):
            tags = frame[body]
            body = body + 1 if not tags else read_unknown(frame, tags, body + 1)[1]
    except (struct.error, IndexError):
        raise Truncated("the bytes end inside the header", offset=len(frame), path="ResponseHeader") from None
    try:
        return correlation, api.response.decode(frame, version, body)
    except WireError:
        if api_key != ApiKeys.API_VERSIONS or version == 0:
            raise
    return correlation, api.response.decode(frame, 0, body)


def _joined(head: bytes, body: list[Buffer]) -> list[Buffer]:
    """Joins the head and the first buffer, unless the buffer is large."""
    if len(body[0]) < 1024:
        body[0] = head + body[0]
        return body
    return [head, *body]


__all__ = [
    "RequestHead",
    "UnknownRequest",
    "read_request_header",
    "read_response",
    "write_request",
    "write_response",
]
