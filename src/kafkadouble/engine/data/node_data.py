"""The data of a node over its lives: the interface that its broker needs, and logs in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from kafkadouble.server.logs.memory import MemoryLogs

if TYPE_CHECKING:
    from kafkadouble.server.faults.armed import Armed
    from kafkadouble.server.faults.disks import DiskHost
    from kafkadouble.server.logs.logs import Logs

    from .saved_logs import SavedLogs


class NodeData(Protocol):
    """The data of a node over its lives."""

    @property
    def paths(self) -> list[str]:
        """The log directories; none in memory."""
        ...

    def open(self) -> Logs:
        """Opens the data that an earlier life left, for the next."""
        ...

    def erase(self, now: int, cluster_id: str) -> None:
        """Deletes everything; what is opened next belongs to this cluster."""
        ...

    def killed(self, logs: Logs, now: int) -> None:
        """The node that had these logs was killed."""
        ...

    def rules_changed(self, rules: Sequence[Armed], node: DiskHost) -> None:
        """Fault rules for disks apply to this node; `rules` are those in force."""
        ...

    def save(self, logs: Logs | None, now: int, broker_epoch: int) -> SavedLogs:
        """A copy of everything, as after an orderly stop of the node that has these logs; it is
        registered in this epoch. None if no node runs."""
        ...

    def put(self, saved: SavedLogs, now: int, cluster_id: str) -> None:
        """Replaces all data with this copy, which belongs to this cluster from now on."""
        ...

    def release(self) -> None:
        """Ends the use of the data."""
        ...


class InMemory:
    """Logs in memory that outlive their node."""

    def __init__(self, cluster_id: str | None) -> None:
        self.paths: list[str] = []
        self._begin(cluster_id)

    def open(self) -> Logs:
        return self._logs

    def erase(self, now: int, cluster_id: str) -> None:
        self._logs.discard()
        self._begin(cluster_id)

    def _begin(self, cluster_id: str | None) -> None:
        self._logs = MemoryLogs()
        self._logs.cluster_id = cluster_id

    def killed(self, logs: Logs, now: int) -> None:
        """Does nothing: logs in memory survive a kill."""

    def save(self, logs: Logs | None, now: int, broker_epoch: int) -> SavedLogs:
        from .saved_logs import copied  # for snapshots alone

        return copied(self._logs, now, None if logs is None else broker_epoch)

    def put(self, saved: SavedLogs, now: int, cluster_id: str) -> None:
        from .saved_logs import put_back  # for snapshots alone

        self._logs.discard()
        self._logs = put_back(saved, cluster_id)

    def rules_changed(self, rules: Sequence[Armed], node: DiskHost) -> None:
        """Does nothing: logs in memory have no disk that could fail."""

    def release(self) -> None:
        self._logs.discard()
