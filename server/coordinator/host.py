"""What a coordinator needs of the node on which it runs, and nothing more."""

from __future__ import annotations

from random import Random
from typing import Protocol

from ..controller.controller import Controller
from ..logs.host import NodeHost


class CoordinatorHost(NodeHost, Protocol):
    """A node, as its coordinators see it."""

    @property
    def random(self) -> Random: ...

    @property
    def controller(self) -> Controller: ...
