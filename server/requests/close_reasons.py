"""The log messages for bytes that end a connection: the client id, the API and its version, the
byte and the field.

Each is the rest of a sentence that begins with the peer's address. It is one line, whatever the
client id contains.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING

from kafkadouble.messages import registry
from kafkadouble.messages.headers import RequestHead
from kafkadouble.wire.errors import WireError

if TYPE_CHECKING:
    from ..apis.row import ServedApi


TLS = b"\x16\x03"
"""The first bytes of a TLS handshake."""

STRANGERS: tuple[tuple[bytes, str], ...] = (
    (
        TLS,
        "this looks like TLS, which this listener does not speak (security.protocol=SSL or SASL_SSL in the client?)",
    ),
    (b"GET ", "this looks like HTTP, and Kafka's protocol is another"),
    (b"HEAD", "this looks like HTTP, and Kafka's protocol is another"),
    (b"POST", "this looks like HTTP, and Kafka's protocol is another"),
    (b"PUT ", "this looks like HTTP, and Kafka's protocol is another"),
    (b"OPTIONS", "this looks like HTTP, and Kafka's protocol is another"),
    (b"CONNECT", "this looks like HTTP, and Kafka's protocol is another"),
    (b"PRI * HTTP/2", "this looks like HTTP/2, and Kafka's protocol is another"),
    (b"SSH-", "this looks like SSH, and Kafka's protocol is another"),
    (b"PROXY ", "this looks like a PROXY header, as load balancers can send it, which Kafka does not read"),
    (
        b"\r\n\r\n\0\r\nQUIT\n",
        "this looks like a PROXY header, as load balancers can send it, which Kafka does not read",
    ),
)
"""The first bytes of other protocols, and the message for each. As the length of a frame these
bytes are above any bound or close to it, so that no request begins with them.
"""


def is_tls(data: bytes) -> bool:
    """Whether the first bytes of a connection are those of TLS."""
    return data.startswith(TLS[: len(data)])


def guess(data: bytes) -> str:
    """The guess for the first bytes of a connection, as the end of a sentence; "" for no guess."""
    return next((f"; {text}" for start, text in STRANGERS if data.startswith(start)), "")


LONGEST_NAME = 100
_KEY_AND_VERSION, _LENGTH = Struct(">hh").unpack_from, Struct(">h").unpack_from
_CLIENT_ID = 10  # the byte at which the client id begins in every request header


def no_frame(error: WireError, data: bytes) -> str:
    """The length of a frame is not valid."""
    return f"sent bytes that are no request: {error}{'' if error.offset else guess(data)}"


def no_tls(first: bytes) -> str:
    """The first bytes of a connection to a listener with TLS, where they are not TLS; else ""."""
    if not first:
        return no_handshake("the client has closed the connection")
    if is_tls(first):
        return ""
    other = guess(first) or "; a client without TLS does so (security.protocol=SSL or SASL_SSL in the client?)"
    return f"it sent bytes that are no TLS, which this listener speaks{other}"


def no_handshake(why: str) -> str:
    """A handshake of TLS has failed."""
    return f"the TLS handshake has failed: {why}"


def bad_header(frame: bytes, error: WireError) -> str:
    """A header cannot be read, or its API is unknown. The message shows the fields that could be
    read."""
    if len(frame) < _CLIENT_ID:
        return f"sent a header that cannot be read: {error}"
    key, version = _KEY_AND_VERSION(frame)
    size = max(_LENGTH(frame, _CLIENT_ID - 2)[0], 0)
    client_id = str(frame[_CLIENT_ID : _CLIENT_ID + size], "utf-8", "replace")
    return f"{client(client_id)} sent a request of {_api(key)} version {version} whose header cannot be read: {error}"


def bad_body(head: RequestHead, error: WireError) -> str:
    """A body cannot be read."""
    return f"{_sender(head)} that cannot be read: {error}"


def too_many(head: RequestHead, most: int) -> str:
    """A body has too many elements."""
    return f"{_sender(head)} of more than {most} elements"


def not_served(head: RequestHead, served: ServedApi | None) -> str:
    """The API is not served, or not in this version."""
    if served is None:
        place = "at byte 0 in RequestHeader.request_api_key"
        return f"{_sender(head)}, an API that is not served, {place}"
    place = "at byte 2 in RequestHeader.request_api_version"
    return f"{_sender(head)}; versions {served.lowest} to {served.highest} are served, {place}"


def client(client_id: str) -> str:
    """The client id for a message, at most `LONGEST_NAME` characters of it."""
    shown = client_id if len(client_id) <= LONGEST_NAME else client_id[:LONGEST_NAME] + "..."
    return f"(client {shown!r})"


def _sender(head: RequestHead) -> str:
    return f"{client(head.client_id)} sent a request {_api(head.api_key)} version {head.api_version}"


def _api(key: int) -> str:
    known = {api.key: api.name for api in registry.apis()}
    return known.get(key, f"API key {key}")
