"""The data that a node of a cluster in one process keeps over its lives: in memory, or in a folder
of its own in each data directory."""

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
    from .data_dirs import node_of  # with a data directory alone

    for path in data_dirs:
        controller = node_of(os.path.join(path, CONTROLLER))
        if controller is not None and controller != brokers + 1:
            raise UsageError(f"{path} is the data directory of a cluster of {controller - 1} brokers, not of {brokers}")


def data_of(data_dirs: Sequence[str], folder: str, id: int, now: int, cluster_id: str | None) -> NodeData:
    """The data of one node: in folders of this name, if there are data directories. UsageError for
    directories that cannot be had."""
    if not data_dirs:
        return InMemory(cluster_id)
    from .data_dirs import DataDirs  # with a data directory alone

    for path in data_dirs:
        if os.path.exists(os.path.join(path, META_PROPERTIES)):
            raise UsageError(f"{path} is the data directory of a single node, not of a cluster")
    paths = [os.path.join(path, folder) for path in data_dirs]
    return OnDisk(DataDirs(paths, id, now, cluster_id=cluster_id))
