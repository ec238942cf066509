"""JWK sets at http and https URLs, and the schedule of their fetches (KIP-768): Apache Kafka's
`RefreshingHttpsJwks`.

Rules.
- A set is fetched at once, and then every `sasl.oauthbearer.jwks.endpoint.refresh.ms`.
- A fetch that fails is tried again: after `sasl.oauthbearer.jwks.endpoint.retry.backoff.ms`, then
  after twice as long, and so on, for `sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms` in all.
  Until one succeeds, the keys stay those of the last fetch.
- A token may name a key that is not in the set: it is refused, and the set is fetched at once.
  After that, the same key id has no effect for 60 s, and any other key id has no effect for 10 s,
  because clients name keys before they are authenticated. MOST_MISSING key ids are remembered.

This module fetches nothing: the shell takes the sets from `RemoteKeySets.take_due`, fetches them,
and reports each result by `fetched` or `failed`. All times are in ms.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from kafkadouble.wire.client_log import ClientLog

from ...requests.timers import Timer, Timers
from .json_web_keys import JsonWebKey

log = ClientLog("kafkadouble.server.security")

MOST_MISSING, MISSING_MS, BETWEEN_MS = 16, 60_000, 10_000
LONGEST_KEY_ID = 1000
"""The largest length of a key id in characters; a longer key id has no effect."""


class KeyEndpoint(NamedTuple):
    """The URL of a set, its refresh interval and retry backoff in ms, and the `ssl.` options for
    https."""

    url: str
    refresh_ms: int
    backoff_ms: int
    backoff_max_ms: int
    ssl_options: tuple[tuple[str, str], ...] = ()


class RemoteKeySet:
    """One JWK set. It calls `on_due` when a fetch is due."""

    def __init__(self, endpoint: KeyEndpoint, timers: Timers, on_due: Callable[[RemoteKeySet], None]) -> None:
        self.endpoint, self._timers, self._on_due = endpoint, timers, on_due
        self.keys: tuple[JsonWebKey, ...] = ()
        # Key id -> when it may start a fetch again.
        self._missing: OrderedDict[str, int] = OrderedDict()
        self._next_at = 0  # when any missing key may start a fetch
        self._is_busy = False  # from the first try of a fetch to its result
        self._give_up_at = self._wait_ms = 0
        self._timer: Timer | None = None

    def start(self, now: int) -> None:
        """Starts the first fetch; refreshes follow by themselves."""
        self._begin(now)

    def key_is_missing(self, key_id: object, now: int) -> None:
        """Starts a fetch because a token named a key that is not in the set."""
        if not isinstance(key_id, str) or len(key_id) > LONGEST_KEY_ID:
            return
        if now < max(self._next_at, self._missing.get(key_id, 0)):
            return
        self._next_at = now + BETWEEN_MS
        self._missing[key_id] = now + MISSING_MS
        self._missing.move_to_end(key_id)
        if len(self._missing) > MOST_MISSING:
            self._missing.popitem(last=False)
        self._begin(now)

    def fetched(self, keys: tuple[JsonWebKey, ...], now: int) -> None:
        """Stores the keys of a successful fetch."""
        self.keys, self._is_busy = keys, False
        for key in keys:
            self._missing.pop(str(key.key_id), None)
        self._at(now + self.endpoint.refresh_ms, self._begin)

    def failed(self, reason: str, now: int) -> None:
        """Schedules another try of a failed fetch, or keeps the keys until the next refresh."""
        wait_ms = min(self._wait_ms, self._give_up_at - now)
        if wait_ms > 0:
            self._wait_ms *= 2
            self._at(now + wait_ms, self._try)
            return
        log.warning("the keys at %s stay as they were: %s", self.endpoint.url, reason)
        self._is_busy = False
        self._at(now + self.endpoint.refresh_ms, self._begin)

    def _begin(self, now: int) -> None:
        if self._is_busy:
            return
        self._is_busy = True
        self._give_up_at, self._wait_ms = now + self.endpoint.backoff_max_ms, self.endpoint.backoff_ms
        self._try(now)

    def _try(self, now: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._on_due(self)

    def _at(self, due: int, action: Callable[[int], None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._timers.at(due, action)

    def __repr__(self) -> str:
        return f"{len(self.keys)} keys of {self.endpoint.url}"


class RemoteKeySets:
    """The JWK sets of one node."""

    def __init__(self, timers: Timers) -> None:
        self._timers = timers
        self._sets: dict[KeyEndpoint, RemoteKeySet] = {}
        self._due: list[RemoteKeySet] = []
        self._kept: dict[KeyEndpoint, tuple[JsonWebKey, ...]] = {}

    def at(self, endpoint: KeyEndpoint, now: int) -> RemoteKeySet:
        """The set at this endpoint. The first call for an endpoint starts its fetch."""
        key_set = self._sets.get(endpoint)
        if key_set is None:
            key_set = self._sets[endpoint] = RemoteKeySet(endpoint, self._timers, self._due.append)
            if keys := self._kept.get(endpoint):
                key_set.fetched(keys, now)
            else:
                key_set.start(now)
        return key_set

    def take_due(self) -> list[RemoteKeySet]:
        """Returns the sets that are due, each once. The shell calls this after every request."""
        if not self._due:
            return []
        due, self._due[:] = list(self._due), []
        return due

    def keep(self, before: RemoteKeySets) -> None:
        """Uses the keys that an earlier node fetched, in place of first fetches."""
        self._kept = {endpoint: known.keys for endpoint, known in before._sets.items()}

    def __repr__(self) -> str:
        return repr([*self._sets.values()])
