"""The control plane of `kafkadouble serve`: its options, and its life beside the brokers."""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from kafkadouble.common.on_first_use import OnFirstUse

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import AsyncIterator, Iterable
    from socket import socket

    from kafkadouble.control import server as control_server
    from kafkadouble.control.http import hosts as host_names
    from kafkadouble.served_double import ServedDouble
    from kafkadouble.server.requests.listener_spec import ListenerSpec
else:  # a start waits for none of them
    control_server = OnFirstUse("kafkadouble.control.server")
    host_names = OnFirstUse("kafkadouble.control.http.hosts")

TOKEN = "KAFKADOUBLE_CONTROL_TOKEN"
"""The environment variable for the token: other users of the machine see the words of a command."""

CONTROL_HOST = "127.0.0.1"


def checked(options: Namespace) -> list[tuple[str, int]]:
    """The address of the control plane. Raises ValueError for options that make no sense."""
    if options.control_port is None:
        raise ValueError("--control-host, --control-token and --control-allowed-hosts need --control-port")
    if not control_server.is_installed():
        raise ValueError(control_server.MISSING)
    host = options.control_host or CONTROL_HOST
    control_server.check_reach(host, token_of(options))
    host_names.check_host_names(_allowed_hosts(options))
    return [(host, options.control_port)]


def token_of(options: Namespace) -> str | None:
    """The token of the options, or of the environment."""
    return options.control_token or os.environ.get(TOKEN) or None


def _allowed_hosts(options: Namespace) -> list[str]:
    return options.control_allowed_hosts.split(",") if options.control_allowed_hosts else []


def _own_hosts(nodes: Iterable[Iterable[ListenerSpec]]) -> list[str]:
    """The names that clients are given, and those of sockets: they are names of this machine."""
    addresses = [address for specs in nodes for spec in specs for address in (spec.advertised, spec.bind) if address]
    return sorted({host for host, _ in addresses if host_names.is_host_name(host)})


@asynccontextmanager
async def control(
    options: Namespace, double: ServedDouble, sock: socket, nodes: Iterable[Iterable[ListenerSpec]]
) -> AsyncIterator[control_server.ControlServer]:
    """Serves the control plane inside the block, under the names of the listeners, too."""
    host = options.control_host or CONTROL_HOST
    hosts = [*_own_hosts(nodes), *_allowed_hosts(options)]
    server = control_server.ControlServer(double, host=host, token=token_of(options), sock=sock, allowed_hosts=hosts)
    await asyncio.to_thread(server.start)
    double.has_control(server)
    try:
        yield server
    finally:
        double.leave()
        await asyncio.to_thread(server.stop)
