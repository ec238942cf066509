"""One node of a cluster: its place, its folder with a server.properties and the log directory, and its process while it runs.

Rules. A node that was started serves: its own log said so, and a broker knows from the metadata that it is there itself and is not fenced,
which may be half a second later. Who runs it is a Kind.
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
        """For people."""

    @property
    def ready(self) -> bytes:
        """What its log says once it serves."""

    def format(self, config: Path, cluster_id: str, words: Sequence[str]) -> list[str]:
        """The command that makes the log directory. Raises Missing."""

    def run(self, config: Path) -> list[str]:
        """The command that runs the node. Raises Missing."""


class Node:
    """A place in the cluster, its folder, and its process while it runs. `settings` are by their Kafka names."""

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
        """What all of its processes have told."""
        return self._folder / "server.log"

    @property
    def bootstrap(self) -> str:
        """Where clients reach this broker."""
        host, port = self.seat.known[CLIENTS]
        return f"{host}:{port}"

    def configure(self, **changes: str) -> None:
        """Settings by their Kafka names with `_` for `.`, heeded from the next start on."""
        self._settings |= {key.replace("_", "."): value for key, value in changes.items()}
        self.config.write_text("".join(f"{key}={value}\n" for key, value in self._settings.items()))

    def has(self, settings: Mapping[str, str]) -> bool:
        """Whether it was told all of these."""
        return settings.items() <= self._settings.items()

    def formatting(self, words: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        """Its storage is being made; see `finished`."""
        command = self.kind.format(self.config, self.cluster_id, words)
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def begin(self) -> None:
        """Start the process; see `wait_ready`."""
        assert not self.running, "the node runs already"
        self._process = Process(self.kind.run(self.config), self.log, self.kind.ready)

    def wait_ready(self) -> None:
        self._alive().wait_ready()
        if self.seat.is_a(BROKER):
            found = known(self.bootstrap, self.id).cluster_id
            assert found == self.cluster_id, f"another cluster answers: {found}, not {self.cluster_id}"

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

    def pause(self) -> None:
        """It does nothing until `resume`, and its connections stay open."""
        self._alive().pause()

    def resume(self) -> None:
        self._alive().resume()

    def _alive(self) -> Process:
        assert self._process is not None, "the node is stopped"
        return self._process

    def __repr__(self) -> str:
        return f"node {self.id}, {self.kind.name}, {'runs' if self.running else 'is stopped'}"


def finished(formatting: Sequence[subprocess.Popen[bytes]]) -> None:
    """All of them at the same time: most of it is the start of a process."""
    for process in formatting:
        told, _ = process.communicate()
        if process.returncode:
            raise RuntimeError(f"a storage could not be formatted: {told.decode(errors='replace')[-2000:]}")
