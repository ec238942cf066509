"""Reads the state of a cluster in this process. Everything here runs on the loop's thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.common.errors import KafkaError
from kafkadouble.messages import error_codes

from .cluster_api import BrokerState, ClusterApi

if TYPE_CHECKING:
    from kafkadouble.server.faults.plane import Faults
    from kafkadouble.server.metadata.image import Image
    from kafkadouble.server.node import Node
    from kafkadouble.server.replica.replication.partition import Partition
    from kafkadouble.server.requests.listener_spec import ListenerSpec
    from kafkadouble.server.tracing.history import History
    from kafkadouble.server.tracing.member_fetches import MemberFetches

    from .broker import Broker
    from .cluster_member import ClusterMember
    from .node_listeners import BoundListeners


class ClusterView(ClusterApi):
    """The part of a Cluster that reads. `members_by_id` are its brokers, `controlling` is its
    controller."""

    controlling: Broker
    members_by_id: dict[int, ClusterMember]
    _at: tuple[str, int]
    _controllers: BoundListeners
    _history: History
    _member_fetches: MemberFetches

    @property
    def cluster_id(self) -> str:
        return self.controlling.node.cluster_id

    @property
    def node(self) -> Node:
        """The node of the controller: it writes the snapshots that the metrics are about."""
        return self.controlling.node

    @property
    def image(self) -> Image:
        """The metadata of the cluster, as the controller has it."""
        return self.controlling.image

    @property
    def address(self) -> tuple[str, int]:
        """That of the first broker."""
        return self.addresses()[0]

    @property
    def listener_names(self) -> list[str]:
        """Of the listeners for clients, which all brokers have."""
        return [spec.name for spec in self.members_by_id[1].listeners.specs]

    def addresses(self, listener: str | None = None) -> list[tuple[str, int]]:
        """Where clients begin, on the first listener or on the one of this name: at any of them."""
        return [member.address(listener) for member in self.members_by_id.values()]

    @property
    def all_listeners(self) -> list[tuple[ListenerSpec, ...]]:
        """Of each broker, and at last of the controller."""
        return [*(member.listeners.specs for member in self.members_by_id.values()), self._controllers.specs]

    @property
    def controller(self) -> tuple[str, int] | None:
        """The address of the controller for nodes of other processes, or None."""
        return self._at if self._controllers.sockets else None

    @property
    def history(self) -> History:
        """The latest requests to all brokers."""
        return self._history

    @property
    def member_fetches(self) -> MemberFetches:
        """The partitions that members of groups fetched from all brokers."""
        return self._member_fetches

    def member(self, id: int) -> ClusterMember | None:
        """The broker of this id; None for one of another process."""
        return self.members_by_id.get(id)

    @property
    def states(self) -> dict[int, BrokerState]:
        """Each broker of this process by its id, running or not."""
        return {
            id: BrokerState(member.address(), member.broker is not None, member.is_paused, member.is_isolated)
            for id, member in self.members_by_id.items()
        }

    @property
    def members(self) -> list[Broker]:
        """The brokers that can answer."""
        return [broker for member in self.members_by_id.values() if (broker := member.answers) is not None]

    @property
    def any_broker(self) -> Broker:
        """The broker that answers what any broker can answer: one that is not isolated, if there is
        one. KafkaError(BROKER_NOT_AVAILABLE)."""
        found = sorted((each.is_isolated, id) for id, each in self.members_by_id.items() if each.answers is not None)
        broker = self.members_by_id[found[0][1]].answers if found else None
        if broker is None:
            raise KafkaError(error_codes.BROKER_NOT_AVAILABLE, "no broker is running")
        return broker

    @property
    def faults(self) -> Faults:
        """The rules of all its nodes, which share them."""
        return self.controlling.node.faults

    @property
    def node_ids(self) -> list[int]:
        """The nodes between which there are links: the brokers and the controller."""
        return [*self.members_by_id, self.controlling.node.id]

    @property
    def disk_paths(self) -> list[str]:
        """The log directories of the brokers; none in memory."""
        return [path for member in self.members_by_id.values() for path in member.data.paths]

    def leading(self, topic: str, index: int) -> tuple[Broker, Partition] | None:
        """A partition, and the broker that leads it; None if there is no such partition.
        KafkaError(LEADER_NOT_AVAILABLE) if no broker leads it that can answer."""
        self.settle()
        found = self.image.topic_named(topic)
        partition = None if found is None else found.partitions.get(index)
        if partition is None:
            return None
        member = self.member(partition.leader)
        broker = None if member is None else member.answers
        led = None if broker is None else broker.node.partitions.get(topic, index)
        if broker is None or led is None:
            problem = "no broker" if partition.leader < 0 else f"broker {partition.leader}, which does not answer,"
            raise KafkaError(error_codes.LEADER_NOT_AVAILABLE, f"{problem} leads {topic}-{index}")
        return broker, led
