"""What the replica of the metadata log needs of its node, and nothing more."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Protocol

from kafkadouble.messages.uuid import Uuid

from ..configs.settings import Settings
from ..raft.raft_listener import RaftListener
from ..requests.listener_spec import ListenerSpec
from ..requests.waiting import Waiting
from .flushing import FlushQueue
from .logs import Logs


class MetadataListener(RaftListener, Protocol):
    """The node's controller, as its replica of the metadata log sees it."""

    def publish_committed(self) -> None:
        """Called after each call of the replica."""
        ...


class RaftHost(Protocol):
    """A node, as its replica of the metadata log sees it. Times are in ms."""

    halted: str | None
    """Why the node cannot go on."""

    @property
    def now(self) -> int: ...

    def advance(self, now: int) -> None:
        """Set the time; the answer of a peer brings it."""
        ...

    @property
    def id(self) -> int: ...

    @property
    def listeners(self) -> Sequence[ListenerSpec]: ...

    @property
    def settings(self) -> Settings: ...

    @property
    def roles(self) -> frozenset[str]: ...

    @property
    def cluster_id(self) -> str: ...

    @property
    def own_directory(self) -> Uuid: ...

    @property
    def random(self) -> Random: ...

    @property
    def waiting(self) -> Waiting: ...

    @property
    def flushing(self) -> FlushQueue: ...

    @property
    def logs(self) -> Logs: ...
