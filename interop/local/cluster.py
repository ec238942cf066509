"""One to three brokers with their controllers, a JVM for each node, in one folder.

Rules. A node that was started is ready: its log said so, and it answers with the id of this cluster. Nodes that are stopped leave in order
and may be started again, at the same address and on the same data. At the end the rest is killed, since its folder is thrown away.
"""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from .. import quorum
from ..quorum import CLIENTS, CONTROLLER, Seat
from . import java
from .identity import identity
from .jars import VERSION
from .process import Process

READY = b"Kafka Server started"
"""What a node logs when it serves: a broker not before it is registered and unfenced."""

HOST = "127.0.0.1"

Command = Callable[..., list[str]]
"""A main class and its words, as a command line."""


class Node:
    """One node: its place in the cluster, its folder, and its JVM while it runs."""

    def __init__(self, seat: Seat, cluster_id: str, folder: Path, command: Command) -> None:
        self.seat, self._cluster_id, self._command = seat, cluster_id, command
        self._folder, self._config = folder, folder / "server.properties"
        self._process: Process | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None, "the node is stopped"
        return self._process.pid

    def configure(self, settings: Mapping[str, str]) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._config.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))

    @property
    def cluster_id(self) -> str:
        return self._cluster_id

    @property
    def data(self) -> Path:
        return self._folder / "data"

    def formatting(self) -> subprocess.Popen[bytes]:
        words = ("format", "-t", self._cluster_id, "-c", str(self._config))
        command = self._command("kafka.tools.StorageTool", *words)
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def begin(self) -> None:
        """Start the JVM; see `wait_ready`."""
        assert self._process is None, "the node runs already"
        self._process = Process(self._command("kafka.Kafka", str(self._config)), self._folder / "server.log", READY)

    def wait_ready(self) -> None:
        assert self._process is not None, "the node is stopped"
        self._process.wait_ready()
        if self.seat.is_a("broker"):
            found = identity(*self.seat.known[CLIENTS]).cluster_id
            assert found == self._cluster_id, f"another cluster answers: {found}, not {self._cluster_id}"

    def start(self) -> None:
        """Start it, and wait until it serves."""
        self.begin()
        self.wait_ready()

    def stop(self) -> None:
        """Ask it to leave, and wait until it did."""
        process, self._process = self._process, None
        if process:
            process.stop()

    def kill(self) -> None:
        """End it without its knowing."""
        process, self._process = self._process, None
        if process:
            process.kill()


class Cluster:
    """Nodes that run: `nodes` are all of them, `brokers` those that clients know."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = list(nodes)
        self.brokers = [node for node in nodes if node.seat.is_a("broker")]
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
    """A cluster of its own; without controllers every broker is one. `flags` are Java's, by default those of the quickest start.

    `overrides` are settings by their Kafka names. Raises Missing.
    """
    flags = flags or _quick(version)

    def command(main: str, *words: str) -> list[str]:
        return java.command(version, main, *words, flags=flags)

    seats, cluster_id = _seats(brokers, controllers), quorum.cluster_id()
    nodes = [Node(seat, cluster_id, folder / f"node-{seat.id}", command) for seat in seats]
    more = {key: str(value) for key, value in (overrides or {}).items()}
    for node in nodes:
        node.configure(quorum.settings(node.seat, seats, str(node.data)) | more)
    try:
        _format(nodes)
        for node in nodes:
            node.begin()
        for node in nodes:
            node.wait_ready()
        yield Cluster(nodes)
    finally:
        for node in nodes:
            node.kill()


def _seats(brokers: int, controllers: int) -> list[Seat]:
    found = []
    wanted = quorum.roles(brokers, controllers)
    ports = iter(_free_ports(2 * len(wanted)))
    for node_id, roles in wanted:
        names = [*([CLIENTS] if "broker" in roles else []), *([CONTROLLER] if "controller" in roles else [])]
        addresses = {name: (HOST, next(ports)) for name in names}
        found.append(Seat(node_id, roles, addresses, addresses))
    return found


def _free_ports(count: int) -> list[int]:
    held = [socket.create_server((HOST, 0)) for _ in range(count)]
    ports: list[int] = [sock.getsockname()[1] for sock in held]
    for sock in held:
        sock.close()
    return ports


def _format(nodes: Sequence[Node]) -> None:
    """All of them at the same time: most of it is the start of a JVM."""
    for process in [node.formatting() for node in nodes]:
        told, _ = process.communicate()
        if process.returncode:
            raise RuntimeError(f"Kafka could not format its storage: {told.decode(errors='replace')[-2000:]}")


def _quick(version: str) -> Sequence[str]:
    """Flags for the quickest start; the first of a release and a Java pays with a run that records its classes."""
    target = java.archive(version)
    if not target.exists():
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.stem}-") as made:
            recorded = Path(made, "classes.jsa")
            with cluster(Path(made, "run"), version, flags=java.recording(recorded)) as first:
                first.nodes[0].stop()
            recorded.touch()  # Java that records nothing goes on without, and is not asked again
            os.replace(recorded, target)
    return java.quick(version)
