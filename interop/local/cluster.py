"""One to three brokers with their controllers, a JVM for each node, in one folder.

Rules. A node that was started is ready: its log said so, and it answers with the id of this
cluster. Nodes that are stopped shut down cleanly. They can be started again, at the same address
and with the same data. At the end the remaining nodes are killed, since the folder is deleted.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.support.ports import HOST, free_ports

from .. import quorum
from ..quorum import CLIENTS, CONTROLLER, Seat
from . import java
from .jars import VERSION
from .node import BROKER, Node, finished

READY = b"Kafka Server started"
"""What a node logs when it serves. A broker logs it only once it is registered and unfenced."""


class Kafka(NamedTuple):
    """Apache Kafka of one release, from Maven's jars. `flags` are Java's; the default is the
    quickest start."""

    version: str = VERSION
    flags: Sequence[str] = ()

    @property
    def name(self) -> str:
        return f"kafka-{self.version}"

    @property
    def ready(self) -> bytes:
        return READY

    def format(self, config: Path, cluster_id: str, words: Sequence[str]) -> list[str]:
        return self.java("kafka.tools.StorageTool", "format", "-t", cluster_id, "-c", str(config), *words)

    def run(self, config: Path) -> list[str]:
        return self.java("kafka.Kafka", str(config))

    def java(self, main: str, *words: str) -> list[str]:
        """The command for any main class of the release. Raises Missing."""
        return java.command(self.version, main, *words, flags=self.flags or quickest(self.version))

    def call(self, main: str, *words: str) -> str:
        """The output of a main class that succeeds."""
        command = self.java(main, *words)
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr


class Cluster:
    """Running nodes: `nodes` are all of them, `brokers` those that clients connect to."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = list(nodes)
        self.brokers = [node for node in nodes if node.seat.is_a(BROKER)]
        self.bootstrap = quorum.bootstrap([node.seat for node in nodes])


@contextmanager
def cluster(
    folder: Path,
    version: str = VERSION,
    *,
    brokers: int = 1,
    controllers: int = 0,
    flags: Sequence[str] = (),
    overrides: Mapping[str, object] | None = None,
) -> Iterator[Cluster]:
    """A cluster of its own; without separate controllers every broker is also a controller. `flags`
    are Java's; the default is the quickest start.

    `overrides` are settings by their Kafka names. Raises Missing.
    """
    kafka, seats, cluster_id = Kafka(version, flags), _seats(brokers, controllers), quorum.cluster_id()
    more = {key: str(value) for key, value in (overrides or {}).items()}
    nodes = []
    for seat in seats:
        at = folder / f"node-{seat.id}"
        nodes.append(Node(seat, kafka, cluster_id, at, quorum.settings(seat, seats, str(at / "data")) | more))
    try:
        finished([node.formatting() for node in nodes])
        for node in nodes:
            node.begin()
        for node in nodes:
            node.wait_ready()
        yield Cluster(nodes)
    finally:
        for node in nodes:
            node.kill()


def _seats(brokers: int, controllers: int) -> list[Seat]:
    seats = []
    ids_and_roles = quorum.roles(brokers, controllers)
    ports = iter(free_ports(2 * len(ids_and_roles)))
    for node_id, roles in ids_and_roles:
        names = [*([CLIENTS] if "broker" in roles else []), *([CONTROLLER] if "controller" in roles else [])]
        addresses = {name: (HOST, next(ports)) for name in names}
        seats.append(Seat(node_id, roles, addresses, addresses))
    return seats


def quickest(version: str) -> Sequence[str]:
    """Flags for the quickest start. The first start of a release with a Java costs one more run,
    which records its classes."""
    target = java.archive(version)
    if not target.exists():
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.stem}-") as made:
            recorded = Path(made, "classes.jsa")
            with cluster(Path(made, "run"), version, flags=java.recording(recorded)) as first:
                first.nodes[0].stop()
            # A Java that records nothing runs without the archive, and is not tried again.
            recorded.touch()
            os.replace(recorded, target)
    return java.quick(version)
