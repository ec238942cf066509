"""What the group coordinator needs of the node on which it runs, and nothing more."""

from __future__ import annotations

from typing import Protocol

from ..coordinator.host import CoordinatorHost
from ..share.partition_metadata_client import PartitionMetadataClient
from ..share.persister import Persister


class GroupHost(CoordinatorHost, Protocol):
    """A node, as its group coordinator sees it."""

    @property
    def persister(self) -> Persister:
        """Where the state of share partitions is kept."""
        ...

    @property
    def partition_metadata_client(self) -> PartitionMetadataClient:
        """Asks for the end offsets of partitions."""
        ...
