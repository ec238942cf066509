"""The state that only the active controller has: changes that are not committed yet, and the
heartbeats of brokers.

It is created when this node becomes the active controller and dropped when it stops being it.
Whatever must survive a change of leader is in metadata records (KIP-631).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..metadata.image import Image
from ..metadata.metadata_loader import UncommittedBatch

if TYPE_CHECKING:
    from .broker_heartbeat_manager import BrokerHeartbeatManager


class ActiveController:
    """`image` includes every change of this and earlier epochs, committed or not."""

    def __init__(
        self, epoch: int, image: Image, start_heartbeat_manager: Callable[[ActiveController], BrokerHeartbeatManager]
    ) -> None:
        self.epoch, self.image, self._start_heartbeat_manager = epoch, image, start_heartbeat_manager
        self.pending: deque[UncommittedBatch] = deque()
        self._heartbeats: BrokerHeartbeatManager | None = None

    def track_heartbeats(self) -> BrokerHeartbeatManager:
        """Starts to track the heartbeats of brokers, unless that has begun. Most nodes are alone
        and never need it.
        """
        if self._heartbeats is None:
            self._heartbeats = self._start_heartbeat_manager(self)
        return self._heartbeats

    @property
    def heartbeats(self) -> BrokerHeartbeatManager:
        """The heartbeats of the registered brokers."""
        return self.track_heartbeats()

    def __repr__(self) -> str:
        return f"active in epoch {self.epoch}, {len(self.pending)} decisions to be committed"
