"""The interface of the node that its parts use. Each room adds what it needs itself, in its own
`host.py`.

This is the lowest room that may hold the base of them all: below it, nothing knows `Logs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Protocol

from kafkadouble.messages.uuid import Uuid

from ..configs.settings import Settings
from ..metadata.image import Image
from ..raft.raft_listener import RaftListener
from ..requests.listener_spec import ListenerSpec
from ..requests.waiting import Waiting
from .flushing import FlushQueue
from .logs import Logs


class NodeHost(Protocol):
    """A node, as most of its parts see it. Times are in ms."""

    halted: str | None
    """Why the node cannot go on."""

    @property
    def id(self) -> int: ...

    @property
    def now(self) -> int: ...

    @property
    def settings(self) -> Settings: ...

    @property
    def roles(self) -> frozenset[str]: ...

    @property
    def image(self) -> Image:
        """The committed metadata of the cluster."""
        ...

    @property
    def waiting(self) -> Waiting: ...

    @property
    def logs(self) -> Logs: ...


class ChannelHost(NodeHost, Protocol):
    """A node, as its channels to other nodes see it."""

    def advance(self, now: int) -> None:
        """Sets the time; the answer of a peer brings it."""
        ...


class MetadataListener(RaftListener, Protocol):
    """The node's controller, as its replica of the metadata log sees it."""

    def publish_committed(self) -> None:
        """Called after each call of the replica."""
        ...


class RaftHost(ChannelHost, Protocol):
    """A node, as its replica of the metadata log sees it."""

    @property
    def listeners(self) -> Sequence[ListenerSpec]: ...

    @property
    def cluster_id(self) -> str: ...

    @property
    def own_directory(self) -> Uuid: ...

    @property
    def random(self) -> Random: ...

    @property
    def flushing(self) -> FlushQueue: ...
