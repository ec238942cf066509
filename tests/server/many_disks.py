"""Brokers with three log directories each, on disks in memory, and controllers on other nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.files.disk import Disk
from kafkadouble.server.logs.files import FileLogs
from kafkadouble.server.logs.formatting import format_directory, opened
from kafkadouble.server.logs.logs import Logs
from kafkadouble.server.metadata.image import BrokerImage, PartitionImage
from kafkadouble.server.metadata.log_dir_ids import directories_of
from tests.server import controllers
from tests.server.log.files.lossy_disk import LossyDisk

BROKER, OTHER = 11, 12


class OnManyDisks(controllers.OnDisks):
    """Each broker has three directories."""

    def __init__(self, count: int, features: Sequence[Any] = ()) -> None:
        self.paths: dict[int, dict[str, LossyDisk]] = {}
        super().__init__(count, features=features)

    def _new_logs(self, id: int) -> Logs:
        if id in self.ids:
            return super()._new_logs(id)
        if id not in self.paths:
            self.paths[id] = {name: LossyDisk() for name in "abc"}
            for name, disk in self.paths[id].items():
                format_directory(disk, name, "a-cluster", id, self._new_id(), self.now)
        disks: Mapping[str, Disk] = self.paths[id]
        return FileLogs(opened(disks, id), self._new_id)

    def broker(self, id: int) -> BrokerImage:
        return self.leader.controller.image.brokers[id]

    def partition(self, name: str, index: int = 0) -> PartitionImage:
        return self.topic(name).partitions[index]

    def lies(self, id: int, name: str, index: int = 0) -> Uuid | None:
        return self.nodes[id].logs.directory_of(name, index)

    def is_assigned(self, name: str) -> bool:
        """Whether the metadata say of each replica where it lies."""
        return all(
            directory == self.lies(id, name, index)
            for index, partition in self.topic(name).in_order()
            for id, directory in directories_of(partition).items()
        )

    def fail(self, id: int, directory: Uuid) -> None:
        """The next write in the directory fails."""
        at = [each.id for each in self.nodes[id].logs._dirs].index(directory)  # type: ignore[attr-defined]
        self.paths[id]["abc"[at]].failing = True


def begun(cluster: OnManyDisks, *ids: int) -> OnManyDisks:
    cluster.add_brokers(ids or (BROKER,))
    return cluster
