"""Gets a document by HTTP/1.1 or HTTPS, on the event loop: for the keys of signed tokens.

Rules. One connection for one document; a redirection to the same scheme is followed. A document has
at most MOST_BYTES, and takes at most TIMEOUT_S. Every failure is a `GetFailed` that says why, and
shows no part of what was received. When the task is cancelled, the connection is closed at once.
"""

from __future__ import annotations

import asyncio
import ssl
from email.message import Message
from http.client import HTTPException, parse_headers
from io import BytesIO
from urllib.parse import urljoin, urlsplit

MOST_BYTES = MOST_HEAD_BYTES = 1 << 19
TIMEOUT_S = 20.0
MOST_REDIRECTIONS = 5
PORTS = {"http": 80, "https": 443}
OK, REDIRECTIONS = 200, (301, 302, 303, 307, 308)


class GetFailed(Exception):
    """Why there is no document."""


async def http_get(url: str, context: ssl.SSLContext | None) -> bytes:
    """The document at a URL. `context` is that of an https URL. Raises GetFailed."""
    try:
        async with asyncio.timeout(TIMEOUT_S):
            for _ in range(1 + MOST_REDIRECTIONS):
                status, headers, body = await _exchange(url, context)
                location = headers.get("Location")
                if status not in REDIRECTIONS or not location:
                    break
                url = _redirected(url, location)
    except TimeoutError:
        raise GetFailed(f"no answer within {TIMEOUT_S:.0f} s") from None
    except ssl.SSLError as problem:
        raise GetFailed(f"TLS fails: {getattr(problem, 'verify_message', '') or problem.reason}") from None
    except (OSError, EOFError, ValueError, HTTPException, asyncio.LimitOverrunError) as problem:
        text = getattr(problem, "strerror", None) or "the answer is no HTTP/1.1"
        raise GetFailed(text) from None
    if status != OK:
        raise GetFailed(f"the answer has the status {status}")
    return body


def _redirected(url: str, location: str) -> str:
    found = urljoin(url, location)
    if urlsplit(found).scheme != urlsplit(url).scheme:
        raise GetFailed("the answer leads to a URL of another scheme")
    return found


async def _exchange(url: str, context: ssl.SSLContext | None) -> tuple[int, Message, bytes]:
    """The status, the headers and the body of an answer."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
    reader, writer = await asyncio.open_connection(host, port, ssl=context, limit=MOST_HEAD_BYTES)
    try:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        lines = (f"GET {target} HTTP/1.1", f"Host: {parts.netloc.rpartition('@')[2]}", "Connection: close", "", "")
        writer.write("\r\n".join(lines).encode("ascii"))
        await writer.drain()
        head = BytesIO(await reader.readuntil(b"\r\n\r\n"))
        version, status = head.readline().split(None, 2)[:2]
        if not version.startswith(b"HTTP/1."):
            raise HTTPException
        headers = parse_headers(head)
        return int(status), headers, await _body(reader, headers)
    finally:
        writer.transport.abort()


async def _body(reader: asyncio.StreamReader, headers: Message) -> bytes:
    if headers.get("Transfer-Encoding", "").lower() == "chunked":
        return await _chunked(reader)
    length = headers.get("Content-Length")
    if length is not None:
        return await reader.readexactly(_bounded(int(length)))
    body = bytearray()
    while block := await reader.read(1 << 16):
        body += block
        _bounded(len(body))
    return bytes(body)


async def _chunked(reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    while size := int((await reader.readuntil(b"\r\n")).partition(b";")[0], 16):
        _bounded(len(body) + _bounded(size))
        body += await reader.readexactly(size)
        await reader.readexactly(2)
    return bytes(body)


def _bounded(size: int) -> int:
    if not 0 <= size <= MOST_BYTES:
        raise GetFailed(f"the answer has more than {MOST_BYTES} bytes")
    return size
