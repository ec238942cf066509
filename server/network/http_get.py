"""Gets a document by HTTP/1.1 or HTTPS, on the event loop: for the keys of signed tokens. The
library h11 reads and writes the protocol.

Rules. One connection for one document; a redirection to the same scheme is followed. A document has
at most MOST_BYTES, and takes at most TIMEOUT_S. Every failure is a GetFailed that says why, and
shows no part of what was received. When the task is cancelled, the connection is closed at once.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from typing import NamedTuple
from urllib.parse import SplitResult, urljoin, urlsplit

import h11

MOST_BYTES = MOST_HEAD_BYTES = 1 << 19
BLOCK_BYTES = 1 << 16
TIMEOUT_S = 20.0
MOST_REDIRECTIONS = 5
PORTS = {"http": 80, "https": 443}
OK, REDIRECTIONS = 200, (301, 302, 303, 307, 308)


class GetFailed(OSError):
    """Why there is no document."""


class HttpAnswer(NamedTuple):
    """`location` is where a redirection leads to, or empty."""

    status: int
    location: str
    body: bytes


async def http_get(url: str, context: ssl.SSLContext | None) -> bytes:
    """The document at a URL. `context` is that of an https URL. Raises GetFailed."""
    try:
        async with asyncio.timeout(TIMEOUT_S):
            for _ in range(1 + MOST_REDIRECTIONS):
                answer = await _exchange(urlsplit(url), context)
                if answer.status not in REDIRECTIONS or not answer.location:
                    break
                found = urljoin(url, answer.location)
                if urlsplit(found).scheme != urlsplit(url).scheme:
                    raise GetFailed("the answer leads to a URL of another scheme")
                url = found
    except GetFailed:
        raise
    except TimeoutError:
        raise GetFailed(f"no answer within {TIMEOUT_S:.0f} s") from None
    except ssl.SSLError as problem:
        raise GetFailed(f"TLS fails: {getattr(problem, 'verify_message', '') or problem.reason}") from None
    except h11.ProtocolError:
        raise GetFailed("the answer is no HTTP/1.1") from None
    except (OSError, ValueError) as problem:
        raise GetFailed(getattr(problem, "strerror", None) or "the URL cannot be used") from None
    if answer.status != OK:
        raise GetFailed(f"the answer has the status {answer.status}")
    return answer.body


async def _exchange(url: SplitResult, context: ssl.SSLContext | None) -> HttpAnswer:
    reader, writer = await asyncio.open_connection(url.hostname, url.port or PORTS[url.scheme], ssl=context)
    connection = h11.Connection(h11.CLIENT, MOST_HEAD_BYTES)
    try:
        writer.write(connection.send(_request(url)) or b"")
        writer.write(connection.send(h11.EndOfMessage()) or b"")
        await writer.drain()
        status, location, body = 0, "", bytearray()
        async for event in _events(reader, connection):
            if isinstance(event, h11.Response):
                status, location = event.status_code, _location(event)
            elif isinstance(event, h11.Data):
                body += event.data
            if len(body) > MOST_BYTES:
                raise GetFailed(f"the answer has more than {MOST_BYTES} bytes")
        return HttpAnswer(status, location, bytes(body))
    finally:
        writer.transport.abort()


def _request(url: SplitResult) -> h11.Request:
    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    return h11.Request(
        method="GET", target=target, headers=[("Host", url.netloc.rpartition("@")[2]), ("Connection", "close")]
    )


async def _events(reader: asyncio.StreamReader, connection: h11.Connection) -> AsyncIterator[h11.Event]:
    """The parts of the answer, to its end."""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(BLOCK_BYTES))
        elif isinstance(event, h11.Event):
            yield event
            if isinstance(event, h11.EndOfMessage):
                return
        else:
            raise h11.RemoteProtocolError("the answer does not end")


def _location(response: h11.Response) -> str:
    return dict(response.headers).get(b"location", b"").decode("ascii", "replace")
