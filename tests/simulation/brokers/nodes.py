"""The nodes of a simulated cluster, the network between them, and what can be asked of them, whatever they are there for."""

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
"""A cluster without faults is in order within this time (ms): some sessions, and what lags comes up."""

ADMIN = 99

PORT, CLIENT_PORT = 9093, 9092
"""Where a node is reached that is a broker or a controller, and where the broker of a node is that is both."""


def address(id: int, port: int = PORT) -> tuple[str, int]:
    return f"node{id}", port


class Witness(Protocol):
    """Looks at the nodes as they go on. Broken when a promise is not kept."""

    deaths: int

    def started(self, member: Member) -> None:
        """A process has begun."""
        ...

    def loses_power(self, member: Member) -> None:
        """A machine ends."""
        ...

    def look(self, member: Member) -> None:
        """This node has done something."""
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
        """What a failure is told with."""

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
        """What a node is, and where it listens as such."""
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
        """Ask it for something, and do not wait for what it says."""
        if (leader := self.controller) is not None:
            self.wires.ask(ADMIN, leader.id, body, version, lambda answer: None, REQUEST_MS)

    @property
    def controller(self) -> Member | None:
        """Who leads the quorum, as it believes; the latest of them."""
        leading = [each for each in self.controllers if each.node is not None and each.node.controller.leads]
        return max(leading, key=lambda each: each.node.controller.epoch if each.node else -1, default=None)

    def is_open(self) -> bool:
        """Whether every broker lets clients in."""
        return all(each.node is not None and each.node.is_open for each in self.brokers)

    def require(self, holds: Callable[[], bool], otherwise: str, within: int = IN_ORDER_WITHIN) -> None:
        """Broken when it does not come to that in a time that is ample."""
        try:
            self.world.run_until(holds, within)
        except Ended:
            raise Broken(f"{otherwise}: {self.state()}, {[*self.members.values()]}") from None
