"""The data of a node that its restarts keep: in memory, or in its own folder in each data
directory. The node belongs to a cluster in one process."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.common.errors import UsageError
from kafkadouble.server.log.formats.names import META_PROPERTIES

from .node_data import InMemory, NodeData

if TYPE_CHECKING:
    from .data_dirs import DataDirs


CONTROLLER, BROKER = "controller", "broker-"
"""The folders of the nodes; a broker's ends in its id."""


class OnDisk:
    """Log directories on disk, which are kept when the node or this process ends."""

    def __init__(self, dirs: DataDirs) -> None:
        self._dirs = dirs
        self.open, self.erase, self.release, self.killed = dirs.open, dirs.erase, dirs.release, dirs.killed
        self.paths, self.rules_changed = dirs.paths, dirs.rules_changed
        self.save, self.put = dirs.save, dirs.put


def check_count(data_dirs: Sequence[str], brokers: int) -> None:
    """Raises UsageError for directories of a cluster with another number of brokers. The id of the
    controller shows this number: it is the number of brokers plus 1."""
    if not data_dirs:
        return
    from .data_dirs import node_of  # only with a data directory

    for path in data_dirs:
        controller = node_of(os.path.join(path, CONTROLLER))
        if controller is not None and controller != brokers + 1:
            raise UsageError(f"{path} is the data directory of a cluster of {controller - 1} brokers, not of {brokers}")


def data_of(data_dirs: Sequence[str], folder: str, id: int, now: int, cluster_id: str | None) -> NodeData:
    """The data of one node: in folders of this name, if there are data directories. Raises
    UsageError for data directories of a single node."""
    if not data_dirs:
        return InMemory(cluster_id)
    from .data_dirs import DataDirs  # only with a data directory

    for path in data_dirs:
        if os.path.exists(os.path.join(path, META_PROPERTIES)):
            raise UsageError(f"{path} is the data directory of a single node, not of a cluster")
    paths = [os.path.join(path, folder) for path in data_dirs]
    return OnDisk(DataDirs(paths, id, now, cluster_id=cluster_id))
