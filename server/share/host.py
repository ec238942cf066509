"""What the share partitions of a broker need of their node, and nothing more."""

from __future__ import annotations

from typing import Protocol

from ..replica.host import FetchHost


class ShareHost(FetchHost, Protocol):
    """A node, as its share partitions see it."""
