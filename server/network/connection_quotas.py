"""How many connections a broker or a controller may have, and how fast they may be created: in all,
of one listener, from one address (Kafka's ConnectionQuotas).

    max.connections                          of all listeners of the broker
    listener.name.NAME.max.connections       of one listener
    max.connections.per.ip (and .overrides)  from one address; more are closed at once
    max.connection.creation.rate             of the broker, and with the prefix of one listener;
                                             more wait, see `quotas/connection_rates.py`
    the quota connection_creation_rate       of an address; more are closed a little later

Rules. At `max.connections` no connection is accepted until one ends. Connections beyond it, after
it was lowered, are closed, those first on which nothing has moved for longest. The inter-broker
listener is protected where the broker has others: its connections are accepted even at
`max.connections`, and one of another listener is closed for each. All settings are read when they
are needed, so that a dynamic change counts at once. The controllers' listeners of a node are
counted by themselves. This file touches no socket.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Protocol, TypeVar

from ..configs.listeners import inter_broker_listener_name, per_ip_overrides
from ..configs.settings import Settings
from ..quotas.client_quota_manager import QuotaConfig
from ..quotas.connection_rates import ConnectionRates
from ..requests.stopwatch import stopped

MOST, RATE = "max.connections", "max.connection.creation.rate"
PER_IP, OVERRIDES = "max.connections.per.ip", "max.connections.per.ip.overrides"


class ConnectionCounts:
    """The connections of all listeners of a broker, or of a controller: `total`, and by address."""

    def __init__(self) -> None:
        self.by_host: Counter[str] = Counter()
        self.total = self.listeners = 0
        self.rates = ConnectionRates()


class ConnectionQuotas:
    """The connections of the listener `name`. `counts` counts those of the other listeners, too;
    `settings` gives the current settings, `now` the time (ms), and `address_limit` how many
    connections an address may create per second."""

    def __init__(
        self,
        name: str,
        settings: Callable[[], Settings],
        counts: ConnectionCounts | None = None,
        *,
        now: Callable[[], int] = stopped,
        address_limit: Callable[[str], float | None] = lambda host: None,
    ) -> None:
        self.name, self._settings, self._now, self._address_limit = name, settings, now, address_limit
        self._accept_at: int | None = None  # when the connection that waits may be served
        self.counts = counts or ConnectionCounts()
        self.counts.listeners += 1
        self.total = 0

    @property
    def most(self) -> int:
        """How many connections this listener may have, if there are none to the others."""
        return self.own_most if self.is_protected else min(self.most_of_all, self.own_most)

    @property
    def most_of_all(self) -> int:
        """How many connections all listeners may have together."""
        return self._settings().int(MOST)

    @property
    def own_most(self) -> int:
        """How many connections this listener may have, whatever the others have."""
        own, settings = f"listener.name.{self.name.lower()}.{MOST}", self._settings()
        return settings.int(own) if own in settings.texts else 2**31 - 1

    @property
    def is_protected(self) -> bool:
        """Whether this is the inter-broker listener of a broker that has others."""
        return self.counts.listeners > 1 and self.name == inter_broker_listener_name(self._settings())

    @property
    def is_full(self) -> bool:
        """Whether the next connection has to wait until another ends."""
        is_at_most = self.counts.total >= self.most_of_all
        return self.total >= self.own_most or (is_at_most and not self.is_protected)

    @property
    def is_exceeded(self) -> bool:
        """Whether there are more connections than the listener, or all together, may have."""
        return self.total > self.own_most or self.counts.total > self.most_of_all

    @property
    def is_too_fast(self) -> bool:
        """Whether the next connection has to wait because connections are created too fast. It is
        counted when this is read for the first time."""
        now = self._now()
        if self._accept_at is None:
            # A connection is counted when it comes.
            settings, rates = self._settings(), self.counts.rates
            own = f"listener.name.{self.name.lower()}.{RATE}"
            limits = {self.name: settings.int(own if own in settings.texts else RATE)}
            if not self.is_protected:
                limits[""] = settings.int(RATE)
            config = _quota_config(settings)
            self._accept_at = now + max(rates.record(name, limit, config, now) for name, limit in limits.items())
        if now < self._accept_at:
            return True
        self._accept_at = None
        return False

    def throttle_address_ms(self, host: str) -> int:
        """Counts a connection from an address. If it creates them too fast, return after how long
        the connection is closed (ms); it is then not counted."""
        limit = self._address_limit(host)
        if limit is None:
            return 0
        now, rates = self._now(), self.counts.rates
        delay_ms = rates.record_address(host, limit, _quota_config(self._settings()), now)
        if delay_ms:
            rates.unrecord(self.name, now)
            if not self.is_protected:
                rates.unrecord("", now)
        return delay_ms

    def most_from(self, host: str) -> int:
        """How many one address may have."""
        settings = self._settings()
        return per_ip_overrides(settings.text(OVERRIDES)).get(host, settings.int(PER_IP))

    def add(self, host: str) -> bool:
        """Counts a connection; False, without counting it, if its address has as many as it may."""
        by_host = self.counts.by_host
        if by_host[host] >= self.most_from(host):
            return False
        by_host[host] += 1
        self.counts.total += 1
        self.total += 1
        return True

    def remove(self, host: str) -> None:
        """A connection that was counted has ended."""
        by_host = self.counts.by_host
        by_host[host] -= 1
        if not by_host[host]:
            del by_host[host]
        self.counts.total -= 1
        self.total -= 1

    def __repr__(self) -> str:
        return f"{self.total} connections to {self.name}, of {self.counts.total} in all"


def _quota_config(settings: Settings) -> QuotaConfig:
    return QuotaConfig(settings.int("quota.window.num"), settings.int("quota.window.size.seconds"))


class CountedConnection(Protocol):
    """A connection; `moved_at` is higher, the later bytes moved on it."""

    quotas: ConnectionQuotas
    moved_at: int


Counted = TypeVar("Counted", bound=CountedConnection)


def in_excess(connections: Iterable[Counted]) -> list[Counted]:
    """The connections to close, so that each listener, and all together, keep their limits."""
    found: list[Counted] = []
    oldest_first = sorted(connections, key=attrgetter("moved_at"))
    for quotas in {each.quotas for each in oldest_first}:
        of_listener = [each for each in oldest_first if each.quotas is quotas]
        found += of_listener[: max(0, quotas.total - quotas.own_most)]
    closed = set(map(id, found))
    for counts, most in {(each.quotas.counts, each.quotas.most_of_all) for each in oldest_first}:
        of_node = [each for each in oldest_first if each.quotas.counts is counts]
        left = [each for each in of_node if id(each) not in closed]
        unprotected = [each for each in left if not each.quotas.is_protected]
        found += unprotected[: max(0, counts.total - (len(of_node) - len(left)) - most)]
    return found
