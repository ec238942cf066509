"""Requests and answers between nodes, and from clients, as bytes on the network, through the codecs
of both sides.

The sender gets one result: the answer, or Failure.LOST when the connection broke, the other end is
down, or no answer came in time. A later answer is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import registry
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.message import Message
from kafkadouble.server.raft.messages import downgraded
from kafkadouble.server.raft.request_manager import RequestFailure

from ..network import Network
from ..world import World
from .telling import shown

if TYPE_CHECKING:
    from .member import Member

NEVER_AFTER_ITS_REPETITION = {
    ApiKeys.WRITE_TXN_MARKERS,
    ApiKeys.CONSUMER_GROUP_HEARTBEAT,
    ApiKeys.SHARE_GROUP_HEARTBEAT,
    ApiKeys.SHARE_FETCH,
    ApiKeys.SHARE_ACKNOWLEDGE,
    ApiKeys.STREAMS_GROUP_HEARTBEAT,
    ApiKeys.JOIN_GROUP,
}
"""The requests that do not arrive when the sender has given them up, as if the end of their
connection had arrived first.

A marker of version 1 that arrives after its repetition ends the next transaction: nothing in that
version says which transaction it is for (KIP-890). A heartbeat or a JoinGroup that arrives late
says what the member owned long ago, and takes it into an epoch of which it does not learn: the
answer to its next heartbeat has no assignment, because nothing changes then (KIP-848). A ShareFetch
that arrives late opens a share session over the one that its member has opened since (KIP-932)."""

OnAnswer = Callable[[Message | RequestFailure], None]


class Wires:
    """`members` by id are the nodes that can be asked."""

    def __init__(self, world: World, network: Network, members: dict[int, Member], controllers: Container[int]) -> None:
        self.controllers = controllers
        self.world, self.network, self._members = world, network, members
        # The extra delay with which metadata reach a broker, in addition to the network's.
        self.metadata_ms: dict[int, int] = {}
        # The extra delay of requests, by the key of their API.
        self.late_ms: dict[int, int] = {}

    def ask(
        self,
        sender: int,
        to: int,
        body: Message,
        version: int,
        on_answer: OnAnswer,
        timeout: int,
        *,
        at_broker: bool = False,
    ) -> None:
        """Lets `to` answer a request of `sender`; both are ids of nodes or clients. `at_broker`: of
        a node with two listeners, at that of its broker."""
        _Asking(self, sender, to, body, version, on_answer, timeout, at_broker)

    def disconnect(self, sender: int, to: int) -> None:
        """Breaks the connections of `sender` to this node."""
        target = self._members.get(to)
        if target is not None:
            target.disconnect(sender)

    def member(self, id: int) -> Member | None:
        return self._members.get(id)


class _Asking:
    """One request in flight."""

    def __init__(
        self,
        wires: Wires,
        sender: int,
        to: int,
        body: Message,
        version: int,
        on_answer: OnAnswer,
        timeout: int,
        at_broker: bool,
    ) -> None:
        self._wires, self._sender, self._to, self._on_answer, self._at_broker = wires, sender, to, on_answer, at_broker
        self._key, self._version, self._is_over = body.api_key or 0, version, False
        data = downgraded(body, version).encode(version)
        late = wires.late_ms.get(self._key, 0)
        how = wires.network.send(sender, to, lambda: self._come(data, late), self.lost)
        if wires.world.tracing:
            wires.world.note("{} > {}  {}{}", sender, to, shown(body), how)
        wires.world.after(timeout, self.lost)

    def lost(self) -> None:
        self._answer(RequestFailure.LOST)

    def _answer(self, answer: Message | RequestFailure) -> None:
        if not self._is_over:
            self._is_over = True
            self._on_answer(answer)

    def _come(self, data: bytes, late: int) -> None:
        if late:
            self._wires.world.after(late, lambda: self._come(data, 0))
        elif not (self._is_over and self._key in NEVER_AFTER_ITS_REPETITION):
            self._arrive(data)

    def _arrive(self, data: bytes) -> None:
        target = self._wires.member(self._to)
        if target is None or not target.is_up:
            self._wires.world.after(1, self.lost)
            return
        listener = target.listener(at_broker=self._at_broker)
        target.receive(self._sender, self._key, self._version, data, listener, self._reply, self.lost)

    def _reply(self, answer: Any) -> None:
        """The answer of the other end; bytes that are no message end the connection."""
        if not isinstance(answer, Message):
            self._wires.world.after(1, self.lost)
            return
        data, late = answer.encode(self._version), self._wires.metadata_ms.get(self._sender, 0)
        if late and self._key == ApiKeys.FETCH and self._to in self._wires.controllers and not self._at_broker:
            self._wires.world.after(late, lambda: self._send_back(answer, data))
        else:
            self._send_back(answer, data)

    def _send_back(self, answer: Message, data: bytes) -> None:
        how = self._wires.network.send(self._to, self._sender, lambda: self._come_back(data), self.lost)
        if self._wires.world.tracing:
            self._wires.world.note("{} > {}  {}{}", self._to, self._sender, shown(answer), how)

    def _come_back(self, data: bytes) -> None:
        if not self._is_over:
            self._answer(registry.api(self._key).response.decode(data, self._version))
