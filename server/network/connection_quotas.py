"""How many connections one listener may have, in all and from one address (Kafka's ConnectionQuotas).

    max.connections                          of the whole broker
    listener.name.NAME.max.connections       of one listener
    max.connections.per.ip (and .overrides)  from one address; more are closed at once

Rules. At `max.connections` no connection is accepted until one ends. Connections beyond it, after it
was lowered, are closed, those first on which nothing has moved for longest. All four are read when they
are needed, so that a dynamic change counts at once. Each listener here is a server of its own, as
Kafka's brokers and controllers are; Kafka's exception for the inter-broker listener holds only where a
broker has two. This file touches no socket.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from ..configs.listeners import endpoints, per_ip_overrides
from ..configs.settings import Settings

MOST = "max.connections"
PER_IP, OVERRIDES = "max.connections.per.ip", "max.connections.per.ip.overrides"


class ConnectionQuotas:
    """The connections of the listener `name`, by address. `settings` gives those that count now."""

    def __init__(self, name: str, settings: Callable[[], Settings]) -> None:
        self.name, self._settings = name, settings
        self._counts: Counter[str] = Counter()
        self.total = 0

    @property
    def most(self) -> int:
        """How many there may be in all."""
        settings = self._settings()
        own = f"listener.name.{self.name.lower()}.{MOST}"
        return min(settings.int(MOST), settings.int(own) if own in settings.texts else 2**31 - 1)

    @property
    def is_full(self) -> bool:
        """Whether the next connection has to wait until another ends."""
        return self.total >= self.most

    @property
    def excess(self) -> int:
        """How many connections there are beyond what is allowed now."""
        return max(0, self.total - self.most)

    def most_from(self, host: str) -> int:
        """How many one address may have."""
        settings = self._settings()
        return per_ip_overrides(settings.text(OVERRIDES)).get(host, settings.int(PER_IP))

    def add(self, host: str) -> bool:
        """Count a connection; False, and it is not counted, when its address has as many as it may."""
        if self._counts[host] >= self.most_from(host):
            return False
        self._counts[host] += 1
        self.total += 1
        return True

    def remove(self, host: str) -> None:
        """A connection that was counted has ended."""
        self._counts[host] -= 1
        if not self._counts[host]:
            del self._counts[host]
        self.total -= 1

    def __repr__(self) -> str:
        return f"{self.total} connections to {self.name} from {len(self._counts)} addresses"


def listener_name(settings: Settings, *, clients: bool) -> str:
    """What the listener of clients, or that of controllers, is called in the settings."""
    controllers = [each.upper() for each in settings.list("controller.listener.names")]
    if not clients:
        return controllers[0]
    names = [each.name for each in endpoints(settings) if each.name not in controllers]
    return names[0] if names else "PLAINTEXT"
