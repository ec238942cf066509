"""The nodes of a simulated cluster, the network between them, and the queries that apply to nodes
of every role."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from kafkadouble.messages.message import Message
from kafkadouble.server.raft.request_manager import RequestFailure
from kafkadouble.server.raft.voters import VoterEndpoint

from ..network import Network
from ..world import Broken, Ended, World
from .shape import REQUEST_MS, Shape
from .wires import Wires

if TYPE_CHECKING:
    from .member import Member

IN_ORDER_WITHIN = 40_000
"""A cluster without faults is in order within this time (ms), which covers some sessions and the
catching up of slow replicas."""

ADMIN = 99

PORT, CLIENT_PORT = 9093, 9092
"""The listeners: where brokers and controllers are reached, and where the broker of a node with
both roles is reached."""


def address(id: int, port: int = PORT) -> tuple[str, int]:
    return f"node{id}", port


class Witness(Protocol):
    """Watches the nodes, and raises Broken when a promise is not kept."""

    deaths: int

    def started(self, member: Member) -> None:
        """A process has begun."""
        ...

    def loses_power(self, member: Member) -> None: ...

    def look(self, member: Member) -> None:
        """This node has completed a step."""
        ...


class Nodes:
    """`members` are the nodes by id."""

    watch: Witness

    def __init__(self, world: World, shape: Shape) -> None:
        self.world, self.shape = world, shape
        self.network = Network(world)
        self.members: dict[int, Member] = {}
        self.wires = Wires(world, self.network, self.members, shape.controller_ids)
        self.ids = [*dict.fromkeys([*shape.controller_ids, *shape.broker_ids])]
        self._by_address = {VoterEndpoint(*address(id, port)): id for id in self.ids for port in (PORT, CLIENT_PORT)}

    @abstractmethod
    def state(self) -> str:
        """The text that is added to a failure."""

    def settings_of(self, id: int) -> dict[str, object]:
        shape, roles = self.shape, self._roles(id)
        voters = ",".join("{}@{}:{}".format(voter, *address(voter)) for voter in shape.controller_ids)
        found: dict[str, object] = {**shape.settings, "node.id": id, "controller.quorum.voters": voters}
        found |= {"process.roles": ",".join(roles), "listeners": ",".join(roles.values())}
        if "broker" in roles and shape.racks:
            selector = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
            found |= {"broker.rack": f"rack{id}", "replica.selector.class": selector}
        return found

    def _roles(self, id: int) -> dict[str, str]:
        """The roles of a node, and its listener for each."""
        found = {"broker": f"PLAINTEXT://:{CLIENT_PORT}", "controller": f"CONTROLLER://:{PORT}"}
        if not self.shape.combined:
            del found["broker" if id in self.shape.controller_ids else "controller"]
        return found

    def id_at(self, endpoint: VoterEndpoint) -> int:
        return self._by_address[endpoint]

    @property
    def brokers(self) -> list[Member]:
        return [self.members[id] for id in self.shape.broker_ids]

    @property
    def controllers(self) -> list[Member]:
        return [self.members[id] for id in self.shape.controller_ids]

    def ask_controller(self, body: Message, version: int) -> Any:
        """The active controller's answer, or None where there was none."""
        found: list[Message | RequestFailure] = []
        leader = self.controller
        if leader is None:
            return None
        self.wires.ask(ADMIN, leader.id, body, version, found.append, REQUEST_MS)
        self.world.run_until(lambda: bool(found), REQUEST_MS + 1)
        return found[0] if isinstance(found[0], Message) else None

    def tell_controller(self, body: Message, version: int) -> None:
        """Sends the controller a request without waiting for the answer."""
        if (leader := self.controller) is not None:
            self.wires.ask(ADMIN, leader.id, body, version, lambda answer: None, REQUEST_MS)

    @property
    def controller(self) -> Member | None:
        """The controller that believes it leads the quorum, in the latest epoch."""
        leading = [each for each in self.controllers if each.node is not None and each.node.controller.leads]
        return max(leading, key=lambda each: each.node.controller.epoch if each.node else -1, default=None)

    def is_open(self) -> bool:
        """Whether every broker accepts clients."""
        return all(broker.node is not None and broker.node.is_open for broker in self.brokers)

    def require(self, holds: Callable[[], bool], otherwise: str, within: int = IN_ORDER_WITHIN) -> None:
        """Raises Broken when the condition is not met within an ample time."""
        try:
            self.world.run_until(holds, within)
        except Ended:
            raise Broken(f"{otherwise}: {self.state()}, {[*self.members.values()]}") from None
