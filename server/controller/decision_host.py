"""The parts of a node that a decision of the controller uses."""

from __future__ import annotations

from typing import Protocol

from ..logs.host import NodeHost
from .host import BrokerOfThisNode
from .metadata_writer import MetadataWriter


class DecisionHost(NodeHost, Protocol):
    """A node, as a request sees it that the controller decides."""

    @property
    def controller(self) -> MetadataWriter: ...

    @property
    def lifecycle(self) -> BrokerOfThisNode | None: ...
