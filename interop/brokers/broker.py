"""What a broker is to the tests: where it is, what it can do, and its servers where they are ours to stop and start."""

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
"""What a whole file of tests must ask for, since it then has a broker for itself, made so."""


class Server(Protocol):
    """One server of a cluster; `bootstrap` is its address."""

    @property
    def bootstrap(self) -> str: ...

    def kill(self) -> None:
        """End it without its knowing, where the broker has the capability `kill`."""

    def stop(self) -> None:
        """Ask it to leave, and wait until it did."""

    def start(self) -> None:
        """Start it at the same address, and wait until it serves."""


class Wanted(NamedTuple):
    """What a broker is asked for: the release of Kafka, where the kind has a choice, and the needs of a whole file of tests."""

    version: str
    needs: frozenset[str] = frozenset()

    @property
    def brokers(self) -> int:
        return 3 if "three_brokers" in self.needs else 1


class Broker(NamedTuple):
    """A broker that runs. `name` is for people; `servers` are there with the capability `restart`."""

    name: str
    bootstrap: str
    capabilities: frozenset[str]
    servers: Sequence[Server] = ()

    def lacks(self, *wanted: str) -> str:
        """Why a test that needs this cannot run here; empty if it can."""
        unknown = set(wanted) - set(CAPABILITIES)
        assert not unknown, f"no such capability: {unknown}"
        missing = [CAPABILITIES[name] for name in wanted if name not in self.capabilities]
        return f"{self.name}: not true that {' and that '.join(missing)}" if missing else ""

    def restart(self) -> None:
        """Stop every server, then start them again."""
        for server in self.servers:
            server.stop()
        for server in self.servers:
            server.start()


class Unavailable(Exception):
    """A broker of this kind cannot be had here; the text says why, and the tests are skipped with it."""


def met(name: str, bootstrap: str, own: set[str], servers: Sequence[Server] = ()) -> Broker:
    """A broker that runs, with what it has of its own and what can be seen of it, once all its servers are known to one another.

    Raises OSError if nobody is there.
    """
    told = whole(bootstrap, max(1, len(servers)))
    return Broker(name, bootstrap, frozenset(own | seen(bootstrap, told)), servers)


def seen(bootstrap: str, told: Identity) -> set[str]:
    """The capabilities that follow from where a broker is and from what it tells."""
    holds = {
        "kafka_4": told.versions[ApiKeys.FETCH][0] >= FIRST_FETCH_OF_KAFKA_4,
        "loopback": bootstrap.startswith("127.0.0.1:")
        and sys.platform == "linux",  # all of 127.0.0.0/8 is this machine
        "three_brokers": told.brokers >= 3,
    }
    return {name for name, true in holds.items() if true}


FIRST_FETCH_OF_KAFKA_4 = 4
"""KIP-896 took the older versions away."""
