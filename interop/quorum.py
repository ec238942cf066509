"""The settings of each node of an Apache Kafka cluster, wherever it runs: one table, and the
addresses filled in.

Rules. This file is pure: it starts nothing and looks for no port. Settings that are not here keep
Kafka's defaults, since the suite tests what users meet. Those that are here only make a small
cluster possible (one replica where there is one broker), quick to start, or quick to look for work
that it looks for from time to time.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from uuid import uuid4

CLIENTS, CONTROLLER, BROKERS = "PLAINTEXT", "CONTROLLER", "BROKERS"
"""Names of listeners. BROKERS exists only where brokers reach one another at other addresses than
clients do."""

FIRST_CONTROLLER = 3000
"""Node id of the first controller that is not a broker."""

Address = tuple[str, int]
"""Host and port."""

QUICK_HEARTBEATS = {"broker.session.timeout.ms": "3000", "broker.heartbeat.interval.ms": "500"}
"""A broker that restarts is refused until its old session has ended: here for 3 seconds instead of
9."""


QUICK_TIMEOUTS = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "500"}
"""A broker looks for transactions whose timeout is over: here every 500 milliseconds instead of
every 10 seconds."""


class Seat(NamedTuple):
    """A node of the cluster. `listens` and `known` are by listener: the address that it binds, and
    the address at which others reach it."""

    id: int
    roles: tuple[str, ...]
    listens: Mapping[str, Address]
    known: Mapping[str, Address]

    def is_a(self, role: str) -> bool:
        return role in self.roles


def roles(brokers: int, controllers: int) -> list[tuple[int, tuple[str, ...]]]:
    """Node ids and roles, controllers first; without separate controllers every broker is also a
    controller."""
    if not 1 <= brokers <= 3 or not 0 <= controllers <= 3:
        raise ValueError(f"{brokers} brokers and {controllers} controllers: 1 to 3 and 0 to 3 are provided for")
    if not controllers:
        return [(1 + n, ("broker", "controller")) for n in range(brokers)]
    apart = [(FIRST_CONTROLLER + n, ("controller",)) for n in range(controllers)]
    return [*apart, *((1 + n, ("broker",)) for n in range(brokers))]


def settings(seat: Seat, seats: Sequence[Seat], data: str) -> dict[str, str]:
    """The server.properties of one node; `data` is the folder of its logs."""
    between = BROKERS if any(BROKERS in one.known for one in seats) else CLIENTS
    names = [CONTROLLER, *dict.fromkeys((between, CLIENTS))]
    found = {
        "process.roles": ",".join(seat.roles),
        "node.id": str(seat.id),
        "log.dirs": data,
        "listeners": _listeners(seat.listens),
        "controller.listener.names": CONTROLLER,
        "listener.security.protocol.map": ",".join(f"{name}:PLAINTEXT" for name in names),
        "controller.quorum.voters": ",".join(f"{one.id}@{_at(one.known[CONTROLLER])}" for one in _controllers(seats)),
    }
    if seat.is_a("broker"):
        advertised = {name: address for name, address in seat.known.items() if name != CONTROLLER}
        found |= {"advertised.listeners": _listeners(advertised), "inter.broker.listener.name": between}
    brokers = sum(one.is_a("broker") for one in seats)
    return found | _small(copies=max(1, min(3, brokers))) | (QUICK_HEARTBEATS if brokers > 1 else {})


def bootstrap(seats: Sequence[Seat]) -> str:
    """The bootstrap servers for clients."""
    return ",".join(_at(one.known[CLIENTS]) for one in seats if one.is_a("broker"))


def cluster_id() -> str:
    """A Kafka uuid: 16 bytes in URL-safe base64. It never begins with a dash, since a tool would
    take it for an option."""
    while (text := base64.urlsafe_b64encode(uuid4().bytes).decode().rstrip("=")).startswith("-"):
        pass
    return text


def _controllers(seats: Sequence[Seat]) -> list[Seat]:
    return [one for one in seats if one.is_a("controller")]


def _at(address: Address) -> str:
    return f"{address[0]}:{address[1]}"


def _listeners(addresses: Mapping[str, Address]) -> str:
    return ",".join(f"{name}://{_at(address)}" for name, address in addresses.items())


def _small(copies: int) -> dict[str, str]:
    return {
        "offsets.topic.replication.factor": str(copies),
        # The default of 50 would create 50 folders
        "offsets.topic.num.partitions": "1",
        "transaction.state.log.replication.factor": str(copies),
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "1",
        "share.coordinator.state.topic.replication.factor": str(copies),
        "share.coordinator.state.topic.min.isr": "1",
        "share.coordinator.state.topic.num.partitions": "1",
        "group.initial.rebalance.delay.ms": "0",
        **QUICK_TIMEOUTS,
        # Kafka touches all 128 MiB of the default when it starts.
        "log.cleaner.dedupe.buffer.size": "2097154",
    }
