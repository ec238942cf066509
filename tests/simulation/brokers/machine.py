"""The part of a simulated node that survives its process: logs in memory, or a disk that loses
unflushed data when its power fails."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, Protocol

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.controller.bootstrap import format_records
from kafkadouble.server.log.files.disk import Disk
from kafkadouble.server.logs.files import FileLogs
from kafkadouble.server.logs.formatting import BootstrapMetadata, format_directory, opened
from kafkadouble.server.logs.logs import Logs
from kafkadouble.server.logs.memory import MemoryLogs
from kafkadouble.server.metadata.features import ELR, TRANSACTION_VERSION, new_cluster_features
from tests.server.log.files.lossy_disk import LossyDisk

from .shape import Shape

CLUSTER = "a-cluster"


def first_records(shape: Shape) -> list[Any]:
    """The first records of a cluster: the levels of its features."""
    levels = new_cluster_features() | {TRANSACTION_VERSION: shape.transaction_version}
    if not shape.elr:
        del levels[ELR]
    return format_records({name: level for name, level in levels.items() if level})


class Machine(Protocol):
    """The interface of a machine that its node needs."""

    def logs(self) -> Logs:
        """What the next process finds."""
        ...

    def killed(self) -> None:
        """The process has ended."""
        ...

    def power_lost(self, random: Random) -> None: ...


class Lasting:
    """Data is never lost, but `last_broker_epoch` shows that a killed process did not shut down
    cleanly."""

    def __init__(self, first: Sequence[Any]) -> None:
        self._logs = MemoryLogs()
        self._logs.cluster_id = CLUSTER
        self._logs.bootstrap = tuple(first)

    def logs(self) -> Logs:
        return self._logs

    def killed(self) -> None:
        self._logs.last_broker_epoch = -1

    def power_lost(self, random: Random) -> None:
        raise AssertionError("memory has no power to lose")


class OnDisk:
    """A LossyDisk. With a `beginning` it has the metadata of a controller."""

    def __init__(self, id: int, now: int, beginning: BootstrapMetadata | None = None) -> None:
        self._id, self._ids = id, Random(id)
        self.disk = LossyDisk()
        format_directory(self.disk, f"disk{id}", CLUSTER, id, self._new_id(), now, beginning)

    def _new_id(self) -> Uuid:
        return Uuid.random(self._ids.randbytes)

    def logs(self) -> Logs:
        disks: dict[str, Disk] = {f"disk{self._id}": self.disk}
        return FileLogs(opened(disks, self._id), self._new_id)

    def killed(self) -> None:
        self.disk = self.disk.copy()

    def power_lost(self, random: Random) -> None:
        self.disk = self.disk.power_lost(random)
