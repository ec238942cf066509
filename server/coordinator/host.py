"""The interface of the node that a coordinator uses."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, Protocol

from ..controller.controller import Controller
from ..controller.host import BrokerOfThisNode
from ..logs.host import ChannelHost
from ..requests.answer import Answer
from ..requests.listener_spec import ListenerSpec
from ..requests.request import Request
from ..requests.waiting import Wait
from ..tracing.trace import Trace


class CoordinatorHost(ChannelHost, Protocol):
    """A node, as its coordinators see it."""

    @property
    def advertised(self) -> tuple[str, int]:
        """Host and port of the first advertised listener."""
        ...

    @property
    def listeners(self) -> Sequence[ListenerSpec]: ...

    @property
    def trace(self) -> Trace: ...

    def handle(self, request: Request[Any]) -> Answer | Wait[Answer]:
        """The answer to a request that the node sends to itself, as the fault rules have it."""
        ...

    @property
    def random(self) -> Random: ...

    @property
    def controller(self) -> Controller: ...

    @property
    def lifecycle(self) -> BrokerOfThisNode | None: ...
