"""What a coordinator needs of the node on which it runs, and nothing more."""

from __future__ import annotations

from random import Random
from typing import Protocol

from ..configs.settings import Settings
from ..controller.controller import Controller
from ..replica.replica_manager import ReplicaManager
from ..requests.waiting import Waiting


class CoordinatorHost(Protocol):
    """A node, as its coordinators see it. Times are in ms."""

    @property
    def now(self) -> int: ...

    @property
    def settings(self) -> Settings: ...

    @property
    def random(self) -> Random: ...

    @property
    def waiting(self) -> Waiting: ...

    @property
    def partitions(self) -> ReplicaManager: ...

    @property
    def controller(self) -> Controller: ...
