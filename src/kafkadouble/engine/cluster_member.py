"""One broker of a cluster in this process, over its lives."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kafkadouble.common.listening import text_of
from kafkadouble.server.configs.settings import Settings

from .broker import Broker
from .node_listeners import BoundListeners, address_on

if TYPE_CHECKING:
    from .data.node_data import NodeData


class ClusterMember:
    """One broker: what stays the same over its lives, and `broker` while it runs. `listeners` have
    their sockets while it does not run."""

    def __init__(self, id: int, settings: Settings, listeners: BoundListeners, data: NodeData) -> None:
        self.id, self.settings, self.data = id, settings, data
        self.listeners = listeners
        self.broker: Broker | None = None
        self.is_isolated = self.is_paused = False
        self.ending: asyncio.Task[None] | None = None
        """Ends the broker, when its node has halted by itself."""

    def address(self, listener: str | None = None) -> tuple[str, int]:
        """Where clients find it, on its first listener or on the one of this name."""
        return address_on(self.listeners.specs, listener)

    def hold(self) -> None:
        """Holds its ports with sockets that do not listen."""
        self.listeners = self.listeners.held()

    @property
    def answers(self) -> Broker | None:
        """The broker, if it runs, and does not stand still."""
        return None if self.is_paused else self.broker

    def __repr__(self) -> str:
        state = "paused" if self.is_paused else "isolated" if self.is_isolated else "running"
        return f"broker {self.id} at {text_of(*self.address())}, {state if self.broker is not None else 'not running'}"
