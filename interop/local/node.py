"""One node of a cluster: its role, its folder with a server.properties and the log directory, and
its process while it runs.

Rules. A node that was started serves: its own log says so, and a broker's metadata lists the broker
itself as not fenced, which may be half a second later. A Kind is the program that runs the node.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from ..quorum import CLIENTS, Seat
from .identity import known
from .process import Process

BROKER = "broker"


class Kind(Protocol):
    """A program that can be a node of a cluster."""

    @property
    def name(self) -> str:
        """The name for messages."""

    @property
    def ready(self) -> bytes:
        """What its log says once it serves."""

    def format(self, config: Path, cluster_id: str, words: Sequence[str]) -> list[str]:
        """The command that makes the log directory. Raises Missing."""

    def run(self, config: Path) -> list[str]:
        """The command that runs the node. Raises Missing."""


class Node:
    """A node of the cluster, its folder, and its process while it runs. `settings` are by their
    Kafka names."""

    def __init__(self, seat: Seat, kind: Kind, cluster_id: str, folder: Path, settings: Mapping[str, str]) -> None:
        self.seat, self.kind, self.cluster_id = seat, kind, cluster_id
        self._folder, self._settings = folder, dict(settings)
        self._process: Process | None = None
        folder.mkdir(parents=True, exist_ok=True)
        self.configure()

    @property
    def id(self) -> int:
        return self.seat.id

    @property
    def running(self) -> bool:
        return self._process is not None

    @property
    def pid(self) -> int:
        return self._alive().pid

    @property
    def data(self) -> Path:
        """The log directory."""
        return self._folder / "data"

    @property
    def config(self) -> Path:
        return self._folder / "server.properties"

    @property
    def log(self) -> Path:
        """The output of all of its processes."""
        return self._folder / "server.log"

    @property
    def bootstrap(self) -> str:
        """Where clients reach this broker."""
        host, port = self.seat.known[CLIENTS]
        return f"{host}:{port}"

    def configure(self, **changes: str) -> None:
        """Sets settings by their Kafka names with `_` for `.`, which apply from the next start
        on."""
        self._settings |= {key.replace("_", "."): value for key, value in changes.items()}
        self.config.write_text("".join(f"{key}={value}\n" for key, value in self._settings.items()))

    def has(self, settings: Mapping[str, str]) -> bool:
        """Whether it has all of these settings."""
        return settings.items() <= self._settings.items()

    def formatting(self, words: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        """Starts the process that formats its storage; see `finished`."""
        command = self.kind.format(self.config, self.cluster_id, words)
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def begin(self) -> None:
        """Starts the process; see `wait_ready`."""
        assert not self.running, "the node runs already"
        self._process = Process(self.kind.run(self.config), self.log, self.kind.ready)

    def wait_ready(self) -> None:
        self._alive().wait_ready()
        if self.seat.is_a(BROKER):
            cluster_id = known(self.bootstrap, self.id).cluster_id
            assert cluster_id == self.cluster_id, f"another cluster answers: {cluster_id}, not {self.cluster_id}"

    def start(self) -> None:
        """Starts it, and waits until it serves."""
        self.begin()
        self.wait_ready()

    def stop(self) -> None:
        """Asks it to shut down, and waits until it has."""
        process, self._process = self._process, None
        if process:
            process.stop()

    def kill(self) -> None:
        """Kills it without a clean shutdown."""
        process, self._process = self._process, None
        if process:
            process.kill()

    def pause(self) -> None:
        """Pauses its process until `resume`; its connections stay open."""
        self._alive().pause()

    def resume(self) -> None:
        self._alive().resume()

    def _alive(self) -> Process:
        assert self._process is not None, "the node is stopped"
        return self._process

    def __repr__(self) -> str:
        return f"node {self.id}, {self.kind.name}, {'runs' if self.running else 'is stopped'}"


def finished(formatting: Sequence[subprocess.Popen[bytes]]) -> None:
    """Waits for all of these processes, which run at the same time: most of their time is the start
    of a JVM."""
    for process in formatting:
        output, _ = process.communicate()
        if process.returncode:
            raise RuntimeError(f"a storage could not be formatted: {output.decode(errors='replace')[-2000:]}")
