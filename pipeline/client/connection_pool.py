"""Keeps connections to brokers for reuse.

Rules. A connection is used by one caller at a time, so that a long Fetch does not delay another
one. A connection with an error is not returned to the pool. Other modules choose the broker, and
handle errors.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from .connection import BrokerConnection
from .errors import ClientError, ConnectionLost
from .names import BrokerEndpoint
from .settings import ClientSettings


class ConnectionPool:
    """The idle connections of one client, by address."""

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings
        self._idle: dict[BrokerEndpoint, list[BrokerConnection]] = {}
        self._closed = False

    def take(self, endpoint: BrokerEndpoint, seconds: float) -> BrokerConnection:
        """A connection for this caller alone, which returns or closes it. Raises ConnectionLost,
        and the ClientErrors of `BrokerConnection.open`."""
        if self._closed:
            raise ClientError("the client is closed")
        idle, now = self._idle.get(endpoint, []), time.monotonic()
        while idle:
            connection = idle.pop()
            if not connection.stale(now):
                return connection
            connection.close()
        return BrokerConnection.open(endpoint, self._settings, seconds)

    def give_back(self, connection: BrokerConnection) -> None:
        """Returns a connection to the pool; a connection that is not idle is closed."""
        if connection.idle and not self._closed:
            connection.rest()
            self._idle.setdefault(connection.endpoint, []).append(connection)
        else:
            connection.close()

    @contextmanager
    def lent(self, endpoint: BrokerEndpoint, seconds: float) -> Iterator[BrokerConnection]:
        """Takes a connection for a block of code, and returns it after the block. An error in it
        closes the connection, and the idle ones to the same broker."""
        connection = self.take(endpoint, seconds)
        try:
            yield connection
        except BaseException as error:
            connection.close()
            if isinstance(error, ConnectionLost):
                self.drop(endpoint)
            raise
        self.give_back(connection)

    def connected(self) -> list[BrokerEndpoint]:
        """The brokers with an idle connection."""
        return [endpoint for endpoint, idle in self._idle.items() if idle]

    def drop(self, endpoint: BrokerEndpoint) -> None:
        """Closes the idle connections to this broker, which probably failed, too."""
        for connection in self._idle.pop(endpoint, []):
            connection.close()

    def close(self) -> None:
        self._closed = True
        for endpoint in list(self._idle):
            self.drop(endpoint)
