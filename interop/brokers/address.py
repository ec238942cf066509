"""A broker at a given address, which the suite did not start and does not stop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .broker import Broker, BrokerRequirements, met


@contextmanager
def at_address(host: str, port: int, requirements: BrokerRequirements) -> Iterator[Broker]:
    """Connects to the broker. Raises OSError if no broker answers, since the user named this
    one."""
    address = f"{host}:{port}"
    yield met(address, address, set())
