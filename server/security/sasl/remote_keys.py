"""JWK sets at http and https URLs, and when each is to be fetched (KIP-768): Apache Kafka's
`RefreshingHttpsJwks`.

Rules.
- A set is fetched at once, and then every `sasl.oauthbearer.jwks.endpoint.refresh.ms`.
- A fetch that fails is tried again: after `sasl.oauthbearer.jwks.endpoint.retry.backoff.ms`, then
  after twice as long, and so on, for `sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms` in all.
  Until one succeeds, the keys stay those of the last fetch.
- A token may name a key that is not in the set: it is refused, and the set is fetched at once. The
  same name has no effect for the next minute, and another one for the next 10 s: keys are named
  before a login. MOST_MISSING names are remembered.

Nothing is fetched here: the shell takes the sets of `RemoteKeySets.take_due`, and hands each what
it found by `fetched` or `failed`. All times are in ms.
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
"""A longer name of a key, in characters, has no effect."""


class KeyEndpoint(NamedTuple):
    """Where a set is, how often it is fetched, and the `ssl.` options for an https URL."""

    url: str
    refresh_ms: int
    backoff_ms: int
    backoff_max_ms: int
    ssl_options: tuple[tuple[str, str], ...] = ()


class RemoteKeySet:
    """One set. `on_due` is called when it is to be fetched."""

    def __init__(self, endpoint: KeyEndpoint, timers: Timers, on_due: Callable[[RemoteKeySet], None]) -> None:
        self.endpoint, self._timers, self._on_due = endpoint, timers, on_due
        self.keys: tuple[JsonWebKey, ...] = ()
        self._missing: OrderedDict[str, int] = OrderedDict()  # when each may have an effect again
        self._next_at = 0  # when a name that is missing may have an effect
        self._is_busy = False  # from `_begin` to its last try
        self._give_up_at = self._wait_ms = 0
        self._timer: Timer | None = None

    def start(self, now: int) -> None:
        """Fetches it now, and goes on from there."""
        self._begin(now)

    def key_is_missing(self, key_id: object, now: int) -> None:
        """A token named a key that is not in the set."""
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
        """The fetch has succeeded."""
        self.keys, self._is_busy = keys, False
        for key in keys:
            self._missing.pop(str(key.key_id), None)
        self._at(now + self.endpoint.refresh_ms, self._begin)

    def failed(self, reason: str, now: int) -> None:
        """The fetch has failed: try again, or keep the keys until the next refresh."""
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
    """Those of one node."""

    def __init__(self, timers: Timers) -> None:
        self._timers = timers
        self._sets: dict[KeyEndpoint, RemoteKeySet] = {}
        self._due: list[RemoteKeySet] = []
        self._kept: dict[KeyEndpoint, tuple[JsonWebKey, ...]] = {}

    def at(self, endpoint: KeyEndpoint, now: int) -> RemoteKeySet:
        """The set there, which is fetched when a login needs it for the first time."""
        found = self._sets.get(endpoint)
        if found is None:
            found = self._sets[endpoint] = RemoteKeySet(endpoint, self._timers, self._due.append)
            if keys := self._kept.get(endpoint):
                found.fetched(keys, now)
            else:
                found.start(now)
        return found

    def take_due(self) -> list[RemoteKeySet]:
        """The sets to fetch now; each is taken once. The shell asks after every request."""
        if not self._due:
            return []
        due, self._due[:] = list(self._due), []
        return due

    def keep(self, before: RemoteKeySets) -> None:
        """Begins with the keys that another node has fetched, in place of first fetches."""
        self._kept = {endpoint: each.keys for endpoint, each in before._sets.items()}

    def __repr__(self) -> str:
        return repr([*self._sets.values()])
