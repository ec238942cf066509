"""The clients that a worker process keeps between tasks: a connection costs more than a small
micro-batch.

Rules: one process has one client for the same properties. A forked process makes its own clients. A
client closes connections on which a task left a response unread.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..client import Client
from .options import QueryOptions

MOST = 8
"""The largest number of clients, for different clusters or credentials, that a process keeps."""

FRESH = {"metadata.max.age.ms": "1000"}
"""A task that reads does not need it: it has its leader from the driver."""

_clients: dict[tuple[int, tuple[tuple[str, str], ...]], Client] = {}


def reading(settings: QueryOptions) -> Client:
    """A client for a task that reads."""
    return _kept({"default.api.timeout.ms": str(settings["kafkaConsumer.pollTimeoutMs"])} | dict(settings.client))


def writing(settings: QueryOptions) -> Client:
    """A client for a task that writes. It refreshes metadata as often as a driver does."""
    return _kept(FRESH | dict(settings.client))


def driving(settings: QueryOptions) -> Client:
    """A client for a driver, which owns it. It refreshes metadata at the interval in `FRESH`,
    unless an option sets it."""
    return Client(FRESH | dict(settings.client))


def close() -> None:
    """Closes the clients of this process."""
    while _clients:
        _clients.popitem()[1].close()


def _kept(properties: Mapping[str, str]) -> Client:
    key = (os.getpid(), tuple(sorted(properties.items())))
    if key not in _clients:
        for old in [old for old in _clients if old[0] != key[0]]:
            del _clients[old]  # its sockets belong to another process
        while len(_clients) >= MOST:
            _clients.pop(next(iter(_clients))).close()
        _clients[key] = Client(properties)
    return _clients[key]
