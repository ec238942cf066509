"""Where a node's logs are, over its lives: what its broker needs of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from kafkadouble.server.faults.armed import Armed
    from kafkadouble.server.faults.disks import DiskHost
    from kafkadouble.server.logs.logs import Logs

    from .saved_logs import SavedLogs


class NodeData(Protocol):
    """Where a node's logs are, over its lives."""

    @property
    def paths(self) -> list[str]:
        """The log directories; none in memory."""
        ...

    def open(self) -> Logs:
        """What an earlier life left, for the next."""
        ...

    def erase(self, now: int, cluster_id: str) -> None:
        """Delete everything; what is opened next belongs to this cluster."""
        ...

    def rules_changed(self, rules: Sequence[Armed], node: DiskHost) -> None:
        """Fault rules for disks apply to this node; `rules` are those in force."""
        ...

    def save(self, logs: Logs | None, now: int, broker_epoch: int) -> SavedLogs:
        """A copy of everything, as after an orderly stop of the node that has these logs; it is
        registered in this epoch. None if no node runs."""
        ...

    def put(self, saved: SavedLogs, now: int, cluster_id: str) -> None:
        """Have a copy in place of everything; it belongs to this cluster from now on."""
        ...

    def release(self) -> None:
        """It is used no more."""
        ...
