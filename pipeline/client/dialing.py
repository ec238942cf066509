"""Connects to a host and a port: tries every address of the host, each for its own time.

This file knows nothing about Kafka. Raises OSError when no address accepts the connection.
"""

from __future__ import annotations

import os
import socket

from .names import BrokerEndpoint
from .settings import ClientSettings


class Unresolvable(OSError):
    """The host name cannot be resolved."""


def dial(endpoint: BrokerEndpoint, settings: ClientSettings, seconds: float) -> socket.socket:
    """A connected socket, within `seconds` for each address."""
    last: OSError = Unresolvable(f"there is no host {endpoint.host!r}")
    for family, kind, protocol, _, where in _addresses(endpoint):
        sock = socket.socket(family, kind, protocol)
        try:
            # TCP_NODELAY: a small request must not wait for the acknowledgement of the previous
            # one.
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if (size := settings.int("send.buffer.bytes")) > 0:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size)
            if "receive.buffer.bytes" in settings.given and (size := settings.int("receive.buffer.bytes")) > 0:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
            sock.settimeout(seconds)
            sock.connect(where)
            return sock
        except OSError as error:
            sock.close()
            last = error
        except BaseException:
            sock.close()
            raise
    raise last


def description(error: BaseException) -> str:
    """The text of an error, without the address, which the caller adds."""
    number = error.errno if isinstance(error, OSError) and type(error).__module__ == "builtins" else None
    return os.strerror(number).lower() if number is not None and number > 0 else str(error) or type(error).__name__


def _addresses(endpoint: BrokerEndpoint) -> list[tuple[int, int, int, str, tuple[str, int]]]:
    try:
        found = socket.getaddrinfo(*endpoint, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        raise Unresolvable(f"there is no host {endpoint.host!r}: {error}") from None
    return found  # type: ignore[return-value]  # typeshed's addresses are those of every family
