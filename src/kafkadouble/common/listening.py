"""A socket that listens: what everything else can be imported behind, while the kernel takes the
first connections.

This file imports nothing but `socket`: it is the first thing that a starting process runs.
"""

from __future__ import annotations

import socket

BACKLOG = 1024


def listen(host: str, port: int) -> socket.socket:
    """A listening TCP socket, on any free port if `port` is 0; OSError as the system has it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.create_server((host, port), family=family, backlog=BACKLOG)
    # Connections inherit it. Without it the second of two quick answers waits 40 ms until the first
    # is acknowledged. asyncio sets it only on sockets that name their protocol, which those of
    # `create_server` do not.
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setblocking(False)
    return sock


def canonical_host_name() -> str:
    """The name under which others know this machine, as Java has it; its address if that has no
    name. OSError if the machine does not know its own name."""
    address = socket.getaddrinfo(socket.gethostname(), None, type=socket.SOCK_STREAM)[0][4]
    try:
        return socket.getnameinfo(address, socket.NI_NAMEREQD)[0]
    except OSError:
        return str(address[0])


def text_of(host: str, port: int) -> str:
    """HOST:PORT, as clients want it."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def hold(address: tuple[str, int]) -> socket.socket:
    """A socket that is bound to this address and does not listen: connections are refused, and no
    other process gets the port. It may listen later."""
    sock = socket.socket(socket.AF_INET6 if ":" in address[0] else socket.AF_INET)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setblocking(False)
        sock.bind(address)
    except BaseException:
        sock.close()
        raise
    return sock
