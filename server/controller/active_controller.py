"""What the active controller knows beyond the log: decisions that are not committed yet, and whom it has heard of lately.

It is made when this node begins to lead, and dropped when it leads no more: whatever must outlast a leader is in records (KIP-631).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from ..metadata.image import Image
from ..metadata.metadata_loader import Decided

if TYPE_CHECKING:
    from ..node import Node
    from .broker_heartbeat_manager import BrokerHeartbeatManager


class ActiveController:
    """`image` has everything that was decided in this epoch and before, committed or not."""

    def __init__(self, node: Node, epoch: int, image: Image) -> None:
        self._node, self.epoch, self.image = node, epoch, image
        self.pending: deque[Decided] = deque()
        self._heartbeats: BrokerHeartbeatManager | None = None

    def track_heartbeats(self) -> BrokerHeartbeatManager:
        """Take note of brokers from now on, if not before: most nodes are alone."""
        if self._heartbeats is None:
            from .periodic_tasks import start_heartbeat_manager

            self._heartbeats = start_heartbeat_manager(self._node, self)
        return self._heartbeats

    @property
    def heartbeats(self) -> BrokerHeartbeatManager:
        """What was heard of the brokers."""
        return self.track_heartbeats()

    def __repr__(self) -> str:
        return f"active in epoch {self.epoch}, {len(self.pending)} decisions to be committed"
