"""The interface of the node that the group coordinator uses."""

from __future__ import annotations

from typing import Protocol

from ..coordinator.host import CoordinatorHost
from ..share.partition_metadata_client import PartitionMetadataClient
from ..share.persister import Persister


class GroupHost(CoordinatorHost, Protocol):
    """A node, as its group coordinator sees it."""

    @property
    def persister(self) -> Persister:
        """The store of the state of share partitions."""
        ...

    @property
    def partition_metadata_client(self) -> PartitionMetadataClient:
        """Asks for the end offsets of partitions."""
        ...
