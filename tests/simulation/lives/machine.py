"""The disks of a simulated node, across its restarts: the disks may lose power, and a log directory
may be full."""

from __future__ import annotations

from random import Random

from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.files.disk import Disk
from kafkadouble.server.logs.files import FileLogs
from kafkadouble.server.logs.formatting import BootstrapMetadata, format_directory, opened
from kafkadouble.server.logs.logs import Logs
from tests.server.log.files.lossy_disk import LossyDisk

from ..brokers.machine import CLUSTER


class Disks:
    """The disks by the path of their log directory. The first directory has the metadata log."""

    def __init__(self, id: int, count: int, now: int, beginning: list[Message] | None) -> None:
        self._id, self._ids = id, Random(id)
        self.disks = {f"node{id}-{number}": LossyDisk() for number in range(count)}
        for number, (path, disk) in enumerate(self.disks.items()):
            own = None if beginning is None or number else BootstrapMetadata(beginning)
            format_directory(disk, path, CLUSTER, id, self._new_id(), now, own)

    def _new_id(self) -> Uuid:
        return Uuid.random(self._ids.randbytes)

    def logs(self) -> Logs:
        disks: dict[str, Disk] = {**self.disks}
        return FileLogs(opened(disks, self._id), self._new_id)

    def killed(self) -> None:
        """Simulates a killed process. Its writes are kept, and a full directory has free space
        again."""
        self.disks = {path: disk.copy() for path, disk in self.disks.items()}

    def power_lost(self, random: Random) -> None:
        self.disks = {path: disk.power_lost(random) for path, disk in self.disks.items()}

    def fill(self, path: str) -> None:
        """Makes every later write to this directory fail."""
        self.disks[path].failing = True

    @property
    def is_full(self) -> bool:
        return any(disk.failing for disk in self.disks.values())
