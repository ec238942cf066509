"""The interface of the node that share partitions use."""

from __future__ import annotations

from typing import Protocol

from ..coordinator.host import CoordinatorHost
from ..replica.host import FetchHost


class ShareHost(FetchHost, Protocol):
    """A node, as its share partitions see it."""


class DeadLetterHost(ShareHost, CoordinatorHost, Protocol):
    """A node, as the writer of its dead-letter queues sees it."""
