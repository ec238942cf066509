"""Ports for servers that must be told theirs before they have it, and keep it while they are down."""

from __future__ import annotations

import socket
from contextlib import ExitStack, suppress
from random import SystemRandom

HOST = "127.0.0.1"

LOWEST_PORT, HIGHEST_PORT = 10_240, 32_767
"""Below those that Linux gives to whoever connects: the port of a server that is stopped for a while is not taken by a client."""

_handed_out: set[int] = set()


def free_ports(count: int) -> list[int]:
    """Ports that nobody had a moment ago, and no other caller of this process."""
    with ExitStack() as held:
        found: list[int] = []
        while len(found) < count:
            port = SystemRandom().randint(LOWEST_PORT, HIGHEST_PORT)  # not what pytest seeds alike in every process
            if port not in _handed_out:
                with suppress(OSError):
                    held.enter_context(socket.create_server((HOST, port)))
                    found.append(port)
                    _handed_out.add(port)
        return found
