"""How fast connections may be created: of a broker, of one listener, and from one address
(KIP-612).

Rules. The rates of the broker and of a listener delay a connection: it is accepted later, for at
most one window. The quota of an address refuses it: it is closed after the throttle time, and not
counted. Connections without a limit are not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from ipaddress import ip_address

from .client_quota_manager import QuotaConfig
from .default_quota_callback import Entity
from .rate import Rate
from .sensors import Sensors
from .throttle_time import throttle_time_ms

KIND, IP = "connection_creation_rate", "ip"
UNLIMITED_RATE = 2**31 - 1
LOCALHOST = "127.0.0.1"


class ConnectionRates:
    """The rates of the listeners of a broker, or of a controller. A rate of "" is the broker's."""

    def __init__(self) -> None:
        self._by_listener: dict[str, Rate] = {}
        self._by_address: Sensors[Rate] | None = None

    def record(self, listener: str, limit: int, config: QuotaConfig, now: int) -> int:
        """Counts a connection of a listener, and returns for how long it has to wait (ms)."""
        if limit == UNLIMITED_RATE:
            self._by_listener.pop(listener, None)
            return 0
        if listener not in self._by_listener:
            self._by_listener[listener] = Rate(config.samples, config.window_ms)
        return _recorded(self._by_listener[listener], limit, config, now)

    def record_address(self, address: str, limit: float | None, config: QuotaConfig, now: int) -> int:
        """Counts a connection from an address; if it is refused, returns when it is closed (ms),
        and does not count it."""
        if limit is None:
            return 0
        if self._by_address is None:
            self._by_address = Sensors(lambda: Rate(config.samples, config.window_ms))
        rate = self._by_address.get(address, now)
        if delay_ms := _recorded(rate, limit, config, now):
            rate.record(-1, now)
        return delay_ms

    def unrecord(self, listener: str, now: int) -> None:
        """Takes back a connection that is refused."""
        if listener in self._by_listener:
            self._by_listener[listener].record(-1, now)


def _recorded(rate: Rate, limit: float, config: QuotaConfig, now: int) -> int:
    rate.record(1, now)
    return min(throttle_time_ms(rate, limit, now), config.window_ms)


def address_limits(quotas: Mapping[Entity, Mapping[str, float]]) -> dict[str | None, float]:
    """The quotas of addresses in an image; that of None is for every address without its own."""
    return {
        None if named[IP] is None else normal_address(named[IP]): values[KIND]
        for entity, values in quotas.items()
        if KIND in values and (named := dict(entity)).get(IP, "") != ""
    }


@lru_cache(maxsize=64)
def normal_address(text: str | None) -> str:
    """An address in its one form. The only name that is known is localhost."""
    if text is None or text == "localhost":
        return LOCALHOST
    try:
        address = ip_address(text)
    except ValueError:  # a name, in the metadata of a real Kafka
        return text
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address)
