"""The control plane of `kafkadouble serve`: its options, and its life beside the brokers."""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import AsyncIterator, Iterable
    from socket import socket

    from kafkadouble.control.server import ControlServer
    from kafkadouble.served_double import ServedDouble
    from kafkadouble.server.requests.listener_spec import ListenerSpec

TOKEN = "KAFKADOUBLE_CONTROL_TOKEN"
"""The environment variable for the token: other users of the machine see the words of a command."""

CONTROL_HOST = "127.0.0.1"


def checked(options: Namespace) -> list[tuple[str, int]]:
    """Where the control plane listens. Raises ValueError for options that make no sense."""
    if options.control_port is None:
        raise ValueError("--control-host, --control-token and --control-allowed-hosts need --control-port")
    from kafkadouble.control.http.hosts import check_host_names
    from kafkadouble.control.server import MISSING, check_reach, is_installed

    if not is_installed():
        raise ValueError(MISSING)
    host = options.control_host or CONTROL_HOST
    check_reach(host, token_of(options))
    check_host_names(_allowed_hosts(options))
    return [(host, options.control_port)]


def token_of(options: Namespace) -> str | None:
    """The token of the options, or of the environment."""
    return options.control_token or os.environ.get(TOKEN) or None


def _allowed_hosts(options: Namespace) -> list[str]:
    return options.control_allowed_hosts.split(",") if options.control_allowed_hosts else []


def _own_hosts(nodes: Iterable[Iterable[ListenerSpec]]) -> list[str]:
    """The names that clients are given, and those of sockets: they are names of this machine."""
    from kafkadouble.control.http.hosts import is_host_name

    addresses = [address for specs in nodes for each in specs for address in (each.advertised, each.bind) if address]
    return sorted({host for host, _ in addresses if is_host_name(host)})


@asynccontextmanager
async def control(
    options: Namespace, double: ServedDouble, sock: socket, nodes: Iterable[Iterable[ListenerSpec]]
) -> AsyncIterator[ControlServer]:
    """Serves the control plane inside the block, under the names of the listeners, too."""
    from kafkadouble.control.server import ControlServer

    host = options.control_host or CONTROL_HOST
    hosts = [*_own_hosts(nodes), *_allowed_hosts(options)]
    server = ControlServer(double, host=host, token=token_of(options), sock=sock, allowed_hosts=hosts)
    await asyncio.to_thread(server.start)
    double.has_control(server)
    try:
        yield server
    finally:
        double.leave()
        await asyncio.to_thread(server.stop)
