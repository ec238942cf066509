"""Clients that a worker process keeps from task to task: a connection costs more than a small micro-batch does.

Rules: one process has one client for the same properties; a process that was forked from one that had some makes its own; what a task left
unread is the client's to tidy up (it hangs up where an answer is under way).
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..client import Client
from .options import QueryOptions

MOST = 8
"""So many different clusters or credentials a process keeps connections to."""

FRESH = {"metadata.max.age.ms": "1000"}
"""A task that reads needs none of this: it has its leader from the driver."""

_clients: dict[tuple[int, tuple[tuple[str, str], ...]], Client] = {}


def reading(settings: QueryOptions) -> Client:
    """A client for a task that reads."""
    return _kept({"default.api.timeout.ms": str(settings["kafkaConsumer.pollTimeoutMs"])} | dict(settings.client))


def writing(settings: QueryOptions) -> Client:
    """A client for a task that writes. It looks for new partitions as often as a driver does."""
    return _kept(FRESH | dict(settings.client))


def driving(settings: QueryOptions) -> Client:
    """A client for a driver, which owns it. It looks for new partitions and leaders as often as `FRESH` says, if no option does."""
    return Client(FRESH | dict(settings.client))


def close() -> None:
    """Ends what this process has kept."""
    while _clients:
        _clients.popitem()[1].close()


def _kept(properties: Mapping[str, str]) -> Client:
    key = (os.getpid(), tuple(sorted(properties.items())))
    if key not in _clients:
        for old in [old for old in _clients if old[0] != key[0]]:
            del _clients[old]  # its sockets are another process's
        while len(_clients) >= MOST:
            _clients.pop(next(iter(_clients))).close()
        _clients[key] = Client(properties)
    return _clients[key]
