"""Ports for servers that must know their port before they bind it, and keep it while they are
stopped."""

from __future__ import annotations

import socket
from contextlib import ExitStack, suppress
from random import SystemRandom

HOST = "127.0.0.1"

LOWEST_PORT, HIGHEST_PORT = 10_240, 32_767
"""The range lies below the ports that Linux gives to outgoing connections, so no client takes the
port of a server that is stopped for a while."""

_handed_out: set[int] = set()


def free_ports(count: int) -> list[int]:
    """Ports that were free a moment ago, and that no other caller in this process has got."""
    with ExitStack() as held:
        found: list[int] = []
        while len(found) < count:
            # A generator of its own: pytest seeds the shared one alike in every process.
            port = SystemRandom().randint(LOWEST_PORT, HIGHEST_PORT)
            if port not in _handed_out:
                with suppress(OSError):
                    held.enter_context(socket.create_server((HOST, port)))
                    found.append(port)
                    _handed_out.add(port)
        return found
