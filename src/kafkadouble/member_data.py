"""What a node of a cluster in one process keeps over its lives: in memory, or in a folder of its
own in each data directory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from kafkadouble.server.log.formats.names import META_PROPERTIES
from kafkadouble.server.logs.logs import Logs
from kafkadouble.server.logs.memory import MemoryLogs

from .errors import UsageError
from .node_data import NodeData

if TYPE_CHECKING:
    from kafkadouble.server.faults.armed import Armed
    from kafkadouble.server.faults.disks import DiskHost

    from .data_dirs import DataDirs
    from .saved_logs import SavedLogs


CONTROLLER, BROKER = "controller", "broker-"
"""The folders of the nodes; a broker's ends in its id."""


class MemberData(NodeData, Protocol):
    """As for a single node, and it may be killed."""

    def killed(self, logs: Logs, now: int) -> None:
        """The node that had these logs was killed."""
        ...


class InMemory:
    """Logs that outlive their node."""

    def __init__(self, cluster_id: str | None) -> None:
        self.paths: list[str] = []
        self._begin(cluster_id)

    def open(self) -> Logs:
        return self._logs

    def erase(self, now: int, cluster_id: str) -> None:
        self._begin(cluster_id)

    def _begin(self, cluster_id: str | None) -> None:
        self._logs = MemoryLogs()
        self._logs.cluster_id = cluster_id

    def killed(self, logs: Logs, now: int) -> None:
        """They stay as they are."""

    def save(self, logs: Logs | None, now: int, broker_epoch: int) -> SavedLogs:
        from .saved_logs import copied

        return copied(self._logs, now, None if logs is None else broker_epoch)

    def put(self, saved: SavedLogs, now: int, cluster_id: str) -> None:
        from .saved_logs import put_back

        self._logs = put_back(saved, cluster_id)

    def rules_changed(self, rules: Sequence[Armed], node: DiskHost) -> None:
        """There is no disk that could fail."""

    def release(self) -> None:
        """No other process could have them."""


class OnDisk:
    """Log directories that outlive their node, and this process."""

    def __init__(self, dirs: DataDirs) -> None:
        self._dirs = dirs
        self.open, self.erase, self.release, self.killed = dirs.open, dirs.erase, dirs.release, dirs.killed
        self.paths, self.rules_changed = dirs.paths, dirs.rules_changed
        self.save, self.put = dirs.save, dirs.put


def check_count(data_dirs: Sequence[str], brokers: int) -> None:
    """UsageError for directories of another number of brokers: the controller's id is one beyond
    theirs."""
    if not data_dirs:
        return
    from .data_dirs import node_of

    for path in data_dirs:
        controller = node_of(os.path.join(path, CONTROLLER))
        if controller is not None and controller != brokers + 1:
            raise UsageError(f"{path} is the data directory of a cluster of {controller - 1} brokers, not of {brokers}")


def data_of(data_dirs: Sequence[str], folder: str, id: int, now: int, cluster_id: str | None) -> MemberData:
    """That of one node: in folders of this name, if there are data directories. UsageError for
    directories that cannot be had."""
    if not data_dirs:
        return InMemory(cluster_id)
    from .data_dirs import DataDirs

    for path in data_dirs:
        if os.path.exists(os.path.join(path, META_PROPERTIES)):
            raise UsageError(f"{path} is the data directory of a single node, not of a cluster")
    paths = [os.path.join(path, folder) for path in data_dirs]
    return OnDisk(DataDirs(paths, id, now, cluster_id=cluster_id))
