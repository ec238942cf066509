"""Apache Kafka in containers of the image `apache/kafka`, where testcontainers and a Docker engine
are installed.

Rules. Without the package or the engine there is no such broker. Only the constructor reports that
as Unavailable: every later error is an error. Clients connect to ports of the host. These are
chosen first and never change, since a broker must advertise its address before it starts, and again
after a restart. The brokers reach one another by name on a network of their own. A relay cannot
stand before them, since Docker itself listens on every local address.
"""

from __future__ import annotations

import gc
import socket
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from .. import quorum
from ..local.identity import identity
from ..quorum import BROKERS, CLIENTS, CONTROLLER, Seat
from .broker import Broker, BrokerRequirements, Unavailable, met

IMAGE = "apache/kafka"
INSIDE = {CLIENTS: 9092, CONTROLLER: 9093, BROKERS: 19092}
"""Ports in a container, by listener."""

DATA = "/tmp/kafka-logs"
READY = b"Kafka Server started"
PATIENCE = 120.0
"""Seconds until a node must be ready."""

ANY = ""
"""Every address, as Kafka writes it. Kafka would advertise 0.0.0.0 as it stands."""


def seats(host: str, ports: Sequence[int]) -> list[Seat]:
    """Combined nodes. Clients reach each node at its port of the host, other nodes at its name on
    the network."""
    listens = {name: (ANY, port) for name, port in INSIDE.items()}
    return [
        Seat(number, roles, listens, {CLIENTS: (host, port), **_inside(number)})
        for (number, roles), port in zip(quorum.roles(len(ports), 0), ports, strict=True)
    ]


def _inside(number: int) -> dict[str, quorum.Address]:
    return {name: (alias(number), INSIDE[name]) for name in (CONTROLLER, BROKERS)}


def alias(number: int) -> str:
    return f"kafka-{number}"


def environment(settings: Mapping[str, str], cluster_id: str) -> dict[str, str]:
    """Settings as the image names them: `_` for `.`, two for `_`, three for `-`. With any setting
    given, the image applies no defaults of its own."""
    variables = {
        key.replace("_", "__").replace("-", "___").replace(".", "_").upper(): value for key, value in settings.items()
    }
    return {"CLUSTER_ID": cluster_id, **{f"KAFKA_{key}": value for key, value in variables.items()}}


class Contained:
    """One node in its container."""

    def __init__(self, container: Any, seat: Seat, cluster_id: str) -> None:
        self._container, self._seat, self._cluster_id = container, seat, cluster_id
        self._starts = 1

    @property
    def bootstrap(self) -> str:
        host, port = self._seat.known[CLIENTS]
        return f"{host}:{port}"

    def wait_ready(self) -> None:
        """Waits until its log reports one startup for each start, and it answers with the id of
        this cluster."""
        docker = self._container.get_wrapped_container()
        end = time.monotonic() + PATIENCE
        while (log := docker.logs()).count(READY) < self._starts:
            docker.reload()
            late = time.monotonic() > end
            if late or docker.status in ("exited", "dead"):
                raise RuntimeError(f"Kafka was not ready (its container: {docker.status}):\n{log[-4000:].decode()}")
            time.sleep(0.1)
        cluster_id = identity(*self._seat.known[CLIENTS]).cluster_id
        assert cluster_id == self._cluster_id, f"another cluster answers: {cluster_id}, not {self._cluster_id}"

    def stop(self) -> None:
        self._container.get_wrapped_container().stop()

    def kill(self) -> None:
        self._container.get_wrapped_container().kill()

    def start(self) -> None:
        self._starts += 1
        self._container.get_wrapped_container().start()
        self.wait_ready()


@contextmanager
def container(requirements: BrokerRequirements) -> Iterator[Broker]:
    image = f"{IMAGE}:{requirements.version}"
    made = [_made(image) for _ in range(requirements.brokers)]
    host = made[0].get_docker_client().host()
    places, cluster_id = seats(host, _free_ports(len(made))), quorum.cluster_id()
    with ExitStack() as stack:
        network = stack.enter_context(_network())
        nodes = []
        for one, seat in zip(made, places, strict=True):
            stack.enter_context(prepared(one, seat, places, cluster_id).with_network(network))
            nodes.append(Contained(one, seat, cluster_id))
        for node in nodes:
            node.wait_ready()
        own = {"durable", "kill", "own", "restart"}
        yield met(f"container {requirements.version}", quorum.bootstrap(places), own, nodes)


def prepared(container: Any, seat: Seat, places: Sequence[Seat], cluster_id: str) -> Any:
    """A container that is not started yet, with its settings, its port of the host and its name."""
    for key, value in environment(quorum.settings(seat, places, DATA), cluster_id).items():
        container.with_env(key, value)
    container.with_bind_ports(INSIDE[CLIENTS], seat.known[CLIENTS][1])
    return container.with_network_aliases(alias(seat.id))


def _made(image: str) -> Any:
    """A container that is not started yet. Raises Unavailable at once."""
    try:
        from docker.errors import DockerException
        from testcontainers.core.container import DockerContainer
    except ImportError as reason:
        raise Unavailable(f"no containers: the package testcontainers is not installed ({reason})") from reason
    try:
        return DockerContainer(image)
    except DockerException as reason:
        problem = str(reason)
    # If the client cannot be made, its socket is left to the garbage collector.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
    raise Unavailable(f"no Docker engine: {problem}")


def _network() -> Any:
    from testcontainers.core.network import Network

    return Network()


def _free_ports(count: int) -> list[int]:
    held = [socket.create_server((ANY, 0)) for _ in range(count)]
    ports: list[int] = [sock.getsockname()[1] for sock in held]
    for sock in held:
        sock.close()
    return ports
