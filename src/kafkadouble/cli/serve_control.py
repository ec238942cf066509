"""The control plane of `kafkadouble serve`: its options, and its life beside the brokers."""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import AsyncIterator
    from socket import socket

    from kafkadouble.control.server import ControlServer

    from ..served_double import ServedDouble

TOKEN = "KAFKADOUBLE_CONTROL_TOKEN"
"""The environment variable for the token: other users of the machine see the words of a command."""

CONTROL_HOST = "127.0.0.1"


def checked(options: Namespace) -> list[tuple[str, int]]:
    """Where the control plane listens. Raises ValueError for options that make no sense."""
    if options.control_port is None:
        raise ValueError("--control-host and --control-token need --control-port")
    from kafkadouble.control.server import MISSING, check_reach, is_installed

    if not is_installed():
        raise ValueError(MISSING)
    host = options.control_host or CONTROL_HOST
    check_reach(host, token_of(options))
    return [(host, options.control_port)]


def token_of(options: Namespace) -> str | None:
    """The token of the options, or of the environment."""
    return options.control_token or os.environ.get(TOKEN) or None


@asynccontextmanager
async def control(options: Namespace, double: ServedDouble, sock: socket) -> AsyncIterator[ControlServer]:
    """Serves the control plane inside the block."""
    from kafkadouble.control.server import ControlServer

    host = options.control_host or CONTROL_HOST
    server = ControlServer(double, host=host, token=token_of(options), sock=sock)
    await asyncio.to_thread(server.start)
    try:
        yield server
    finally:
        double.leave()
        await asyncio.to_thread(server.stop)
