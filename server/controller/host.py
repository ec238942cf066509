"""The parts of a node that its controller uses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.uuid import Uuid

from ..configs.settings import Settings
from ..logs.host import NodeHost
from ..logs.raft_manager import RaftManager
from ..metadata.image import Image
from ..raft.outbound_channel import PeerChannel
from ..requests.listener_spec import ListenerSpec

if TYPE_CHECKING:
    from ..metadata.snapshot_generator import SnapshotGenerator


class BrokerOfThisNode(Protocol):
    """The node's broker, where another node may be the active controller."""

    @property
    def registers_by_request(self) -> bool: ...

    @property
    def is_registered_by_request(self) -> bool: ...

    def continue_registered(self, epoch: int) -> None: ...

    def create_topics(
        self, topics: Iterable[CreateTopicsRequest.CreatableTopic], done: Callable[[Any], None] | None = None
    ) -> bool: ...

    def request_producer_ids(self) -> None: ...


class PublishedPartitions(Protocol):
    """The partitions that the node leads."""

    def image_changed(self, before: Image, after: Image, records: Any) -> None: ...


class ControllerHost(NodeHost, Protocol):
    """A node, as its controller sees it."""

    settings: Settings
    is_registered: bool

    @property
    def lifecycle(self) -> BrokerOfThisNode | None: ...

    def stopwatch(self) -> int: ...

    @property
    def listeners(self) -> Sequence[ListenerSpec]: ...

    @property
    def random(self) -> Random: ...

    @property
    def incarnation_id(self) -> Uuid: ...

    @property
    def advertised(self) -> tuple[str, int]: ...

    @property
    def channels(self) -> Sequence[PeerChannel]:
        """The channels to other nodes; none where the node is alone."""
        ...

    @property
    def snapshots_from(self) -> int:
        """Bytes of committed records after which a snapshot may be due."""
        ...

    @property
    def quorum(self) -> RaftManager: ...

    @property
    def snapshot_generator(self) -> SnapshotGenerator: ...

    @property
    def partitions(self) -> PublishedPartitions: ...
