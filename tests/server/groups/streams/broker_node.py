"""A broker whose controller is another node, as far as it creates internal topics."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kafkadouble.messages.generated.create_topics import CreateTopicsRequest


class RemoteController:
    """The node's own controller, which is not the active one."""

    leads = False


class Lifecycle:
    """The broker's way to the active controller: keeps what is requested."""

    def __init__(self) -> None:
        self.requested: list[str] = []
        self.done: list[Callable[[Any], None]] = []

    def create_topics(self, topics: Iterable[CreateTopicsRequest.CreatableTopic], done: Callable[[Any], None]) -> None:
        self.requested += [topic.name for topic in topics]
        self.done.append(done)


class BrokerNode:
    """A broker that is not the active controller."""

    def __init__(self) -> None:
        self.now = 1000
        self.controller, self.lifecycle = RemoteController(), Lifecycle()
