"""The brokers of a double: one that is alone, or those of a cluster.

A broker that is alone is a cluster of one: it is its own member and its own controller. What can be
asked of both is here; `isinstance` tells them apart where they differ, as for the links between
nodes. Everything here runs on the loop's thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from .rule_holder import RuleHolder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from kafkadouble.messages.message import Message
    from kafkadouble.server.metadata.image import Image
    from kafkadouble.server.network.clock import AdvancingClock, Clock
    from kafkadouble.server.network.listener import Listener
    from kafkadouble.server.network.watches import Watches
    from kafkadouble.server.node import Node
    from kafkadouble.server.replica.replication.partition import Partition
    from kafkadouble.server.requests.listener_spec import ListenerSpec
    from kafkadouble.server.tracing.history import History
    from kafkadouble.server.tracing.member_fetches import MemberFetches


class BrokerState(NamedTuple):
    """The addresses of a broker, and whether it runs, is paused and is isolated."""

    address: tuple[str, int]
    runs: bool
    is_paused: bool = False
    is_isolated: bool = False


class BrokerApi(Protocol):
    """A broker that can answer."""

    @property
    def node(self) -> Node:
        """The node that serves now."""
        ...

    @property
    def image(self) -> Image:
        """The metadata of the cluster, as it has it."""
        ...

    listener: Listener
    clock: Clock

    def settle(self) -> None:
        """Processes everything that is due."""
        ...

    def ask(self, body: Message, at: Any = None) -> Future[Any]:
        """The broker's answer to a request, in the newest version that is served."""
        ...


class ClusterApi(RuleHolder):
    """The brokers of a double. `watches` are called whenever something changed."""

    clock: Clock
    watches: Watches

    if TYPE_CHECKING:

        @property
        def node(self) -> Node:
            """The node that writes the snapshots of the metadata."""

        @property
        def controlling(self) -> BrokerApi:
            """The broker whose node leads the quorum. KafkaError(BROKER_NOT_AVAILABLE)."""

        @property
        def image(self) -> Image:
            """The metadata of the cluster. KafkaError(BROKER_NOT_AVAILABLE)."""

        @property
        def address(self) -> tuple[str, int]:
            """The address of the first broker."""

        @property
        def controller(self) -> tuple[str, int] | None:
            """The address at which nodes of other processes reach the controller, if they do."""

        @property
        def listener_names(self) -> list[str]:
            """The names of the listeners for clients, which all brokers have."""

        def addresses(self, listener: str | None = None) -> list[tuple[str, int]]:
            """The bootstrap addresses, on the first listener or on the one of this name."""

        @property
        def all_listeners(self) -> list[tuple[ListenerSpec, ...]]:
            """The listeners of each node."""

        @property
        def states(self) -> dict[int, BrokerState]:
            """The brokers of this process by id, running or not."""

        @property
        def members(self) -> Sequence[BrokerApi]:
            """The brokers that can answer."""

        @property
        def any_broker(self) -> BrokerApi:
            """A broker that answers what any can. KafkaError(BROKER_NOT_AVAILABLE)."""

        def member(self, id: int) -> Any:
            """The ClusterMember of this id; None for a broker that is alone, or of another
            process."""

        def leading(self, topic: str, index: int) -> tuple[BrokerApi, Partition] | None:
            """A partition, and the broker that leads it; None if there is no such partition.
            KafkaError(LEADER_NOT_AVAILABLE) if no broker leads it that can answer."""

        @property
        def history(self) -> History:
            """The latest requests to all brokers."""

        @property
        def member_fetches(self) -> MemberFetches:
            """The fetches of members of groups from all brokers."""

        def advance(self, clock: AdvancingClock, milliseconds: int) -> None:
            """Advances the clock of all nodes."""

        def clock_changed(self) -> None:
            """Sets the timers again."""

        async def start(self) -> None:
            """Begins to accept."""

        async def stop(self) -> None:
            """Closes everything."""

        async def reset(self) -> None:
            """Begins empty, behind the same sockets."""

        def ask(self, body: Message, at: Any = None) -> Future[Any]:
            """The answer of a broker, of any unless one is named."""
