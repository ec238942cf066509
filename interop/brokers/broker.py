"""The broker under test: its address, its capabilities, and its servers if the suite can stop and
start them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from kafkadouble.messages.api_keys import ApiKeys

from ..local.identity import Identity, whole

CAPABILITIES: Mapping[str, str] = {
    "durable": "what was acknowledged survives a restart",
    "faults": "faults can be armed in the broker",
    "kill": "its servers can be killed without their knowing",
    "kafka_4": "the broker announces the versions that Kafka 4 has, and so has its defaults",
    "loopback": "the broker is known by the address 127.0.0.1, so that a relay can stand before it",
    "own": "the broker serves these tests alone, so that its settings may be changed",
    "restart": "its servers can be stopped, and started again at the same address",
    "three_brokers": "the cluster has three brokers",
}

SHAPES = frozenset({"restart", "three_brokers"})
"""Capabilities that only a whole test file can require: the file then gets a broker of its own with
this setup."""


class Server(Protocol):
    """One server of a cluster; `bootstrap` is its address."""

    @property
    def bootstrap(self) -> str: ...

    def kill(self) -> None:
        """Kills it without a clean shutdown, where the broker has the capability `kill`."""

    def stop(self) -> None:
        """Asks it to shut down, and waits until it has."""

    def start(self) -> None:
        """Starts it at the same address, and waits until it serves."""


class BrokerRequirements(NamedTuple):
    """What a test file requires of its broker: the Kafka release, where the kind offers several,
    and the capabilities that the whole file needs."""

    version: str
    needs: frozenset[str] = frozenset()

    @property
    def brokers(self) -> int:
        return 3 if "three_brokers" in self.needs else 1


class Broker(NamedTuple):
    """A running broker. `name` is for messages; `servers` is filled if it has the capability
    `restart`."""

    name: str
    bootstrap: str
    capabilities: frozenset[str]
    servers: Sequence[Server] = ()

    def lacks(self, *needed: str) -> str:
        """Why a test that needs this cannot run here; empty if it can."""
        unknown = set(needed) - set(CAPABILITIES)
        assert not unknown, f"no such capability: {unknown}"
        missing = [CAPABILITIES[name] for name in needed if name not in self.capabilities]
        return f"{self.name}: not true that {' and that '.join(missing)}" if missing else ""

    def restart(self) -> None:
        """Stops every server, then start them again."""
        for server in self.servers:
            server.stop()
        for server in self.servers:
            server.start()


class Unavailable(Exception):
    """Raised if a broker of this kind cannot be started here; the text says why, and its tests are
    skipped."""


def met(name: str, bootstrap: str, own: set[str], servers: Sequence[Server] = ()) -> Broker:
    """A running broker with its own and its detected capabilities, once all its servers know one
    another.

    Raises OSError if no broker answers.
    """
    identity = whole(bootstrap, max(1, len(servers)))
    return Broker(name, bootstrap, frozenset(own | seen(bootstrap, identity)), servers)


def seen(bootstrap: str, identity: Identity) -> set[str]:
    """The capabilities that follow from the broker's address and from its answers."""
    holds = {
        "kafka_4": identity.versions[ApiKeys.FETCH][0] >= FIRST_FETCH_OF_KAFKA_4,
        "loopback": bootstrap.startswith("127.0.0.1:")
        and sys.platform == "linux",  # all of 127.0.0.0/8 is this machine
        "three_brokers": identity.brokers >= 3,
    }
    return {name for name, true in holds.items() if true}


FIRST_FETCH_OF_KAFKA_4 = 4
"""KIP-896 removed the older versions in Kafka 4.0."""
