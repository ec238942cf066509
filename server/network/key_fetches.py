"""Fetches the JWK sets of a node, on the event loop: those that `RemoteKeySets` says are due.

Rules. Before a node serves, its sets are fetched once, and a set that cannot be fetched is a
UsageError: Apache Kafka does not start then. Later fetches run beside everything else, and hand
their result to the set. `stop` ends those under way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from kafkadouble.wire.client_log import ClientLog
from kafkadouble.wire.errors import UsageError

from ..security.sasl.json_web_keys import JsonWebKey, keys_in
from ..security.sasl.remote_keys import KeyEndpoint, RemoteKeySet
from ..security.sasl.signed_tokens import URL
from ..security.tls.key_endpoint import context_of

if TYPE_CHECKING:
    from ..node import Node

log = ClientLog("kafkadouble.server.network")

SMALL_BYTES = 16 << 10
"""A larger set is read on another thread: thousands of keys take long."""

WAITS_S = (0.18, 0.36, 0.72)
"""How long the first fetch waits before each further try; these are those of Kafka's library."""


class KeyFetches:
    """Of one node after another. `now` gives the time (ms), and `moved` is called after each
    result."""

    def __init__(self, now: Callable[[], int], moved: Callable[[], None]) -> None:
        self._now, self._moved = now, moved
        self._tasks: set[asyncio.Task[None]] = set()

    async def first(self, node: Node, listeners: Iterable[str]) -> None:
        """Fetches every set of these listeners once. UsageError."""
        for spec in node.listeners:
            if spec.has_sasl and spec.name in listeners:
                node.sasl.enabled(spec.name)
        for each in node.sasl.remote_keys.take_due():
            each.fetched(await _fetched_with_patience(each.endpoint), self._now())

    def look(self, node: Node) -> None:
        """Begins to fetch what is due."""
        for each in node.sasl.remote_keys.take_due():
            task = asyncio.get_running_loop().create_task(self._fetch(each, node))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _fetch(self, keys: RemoteKeySet, node: Node) -> None:
        try:
            found = await _fetched(keys.endpoint)
        except (OSError, UsageError) as problem:
            keys.failed(str(problem), self._now())
        else:
            log.debug("%d keys were fetched from %s", len(found), keys.endpoint.url)
            keys.fetched(found, self._now())
        self._moved()

    async def stop(self) -> None:
        """Ends the fetches under way."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def __repr__(self) -> str:
        return f"{len(self._tasks)} fetches of keys"


async def _fetched_with_patience(endpoint: KeyEndpoint) -> tuple[JsonWebKey, ...]:
    for wait_s in (*WAITS_S, None):
        try:
            return await _fetched(endpoint)
        except OSError as problem:
            if wait_s is None:
                raise UsageError(f"{URL}: {endpoint.url} cannot be fetched: {problem}") from None
            await asyncio.sleep(wait_s)
    raise AssertionError


async def _fetched(endpoint: KeyEndpoint) -> tuple[JsonWebKey, ...]:
    """The keys there. Raises OSError, and UsageError for a document that is no set."""
    # A node with passwords alone does not need the library for HTTP.
    from .http_get import http_get

    data, place = await http_get(endpoint.url, context_of(endpoint.url, endpoint.ssl_options)), f"{URL}: {endpoint.url}"
    return keys_in(data, place) if len(data) <= SMALL_BYTES else await asyncio.to_thread(keys_in, data, place)
