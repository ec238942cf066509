"""The links between the nodes of one process: requests and responses go from node to node as bytes,
without a socket.

Rules. A request is written and read in the newest version that both nodes know, by the codec of
the sockets, and passes faults and the trace as there. Fetch is the exception: its request and
response are passed on as the objects that they are, because there are many of them, each is made
for one use, and neither side changes one. A request to an endpoint that is no member's is kept in
`remote` for the sockets of `peers.py`. A request is lost only if the sender or the receiver has
left or is isolated, or by a fault rule; at a node that is paused it waits for as long as the sender
does. This file knows no clock and no socket: `deliver` moves everything that can move now, `tick`
does what is due.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import GeneratorType
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import headers
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.message import Message
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.file_slice import FileSlice

from .. import dispatch
from ..raft.messages import downgraded
from ..raft.request_manager import OutboundRequest, RequestFailure
from ..raft.voters import VoterEndpoint
from ..requests.answer import DISCONNECT, without_frame
from ..requests.codec import read_head, read_request, write_response
from ..requests.listener_spec import ListenerSpec
from ..requests.request import Peer, Request
from ..tracing.trace import ANSWERED, DISCONNECTED, UNANSWERED
from .in_flight import InFlightRequest

if TYPE_CHECKING:
    from ..apis.row import ServedApi
    from ..node import Node
    from ..raft.outbound_channel import PeerChannel
    from .link_faults import LinkFaults

ROUNDS = 64
"""Rounds of requests and responses in one `deliver`: two nodes may exchange requests without
end."""

SIZE_FIELD = 4
"""The bytes in front of a frame that hold its size."""

Outcome = Message | RequestFailure


class RemoteChannel:
    """The requests that one channel of a member sends to nodes of other processes: an
    `OutboundChannel` for `peers.py`."""

    def __init__(self, node: Node, peers: PeerChannel) -> None:
        self.node, self.channel, self.name = node, peers.channel, peers.client_id
        self.timeout_ms, self.is_to_controllers = node.settings.int(peers.timeout), peers.is_to_controllers
        self.waiting: list[OutboundRequest] = []
        self.secured_by = node.settings
        """What the security of its next connections was made from."""

    def take_outgoing(self) -> list[OutboundRequest]:
        taken, self.waiting = self.waiting, []
        return taken

    def answered(self, token: int, response: Message | RequestFailure | None, now: int) -> None:
        self.channel.answered(token, response, now)
        self.node.tick(now)

    def tick(self, now: int) -> None: ...

    def next_deadline(self) -> int | None:
        return None


class InProcessLinks:
    """The members of one process, by node id, and what is in flight between them."""

    def __init__(self) -> None:
        self.nodes: dict[int, Node] = {}
        self.isolated: set[int] = set()
        self.paused: set[int] = set()
        self.remote: dict[int, list[RemoteChannel]] = {}
        """By member, one for each of its channels."""
        # Where the listeners of the members are reached, also of those that have left.
        self._endpoints: dict[VoterEndpoint, tuple[int, ListenerSpec]] = {}
        self._peers: dict[tuple[int, VoterEndpoint], Peer] = {}
        self._in_flight: dict[InFlightRequest, None] = {}
        # For receivers that are paused, and for senders that are.
        self._undelivered: list[InFlightRequest] = []
        self._held_back: list[tuple[InFlightRequest, Outcome]] = []
        self._completed: list[tuple[InFlightRequest, Outcome]] = []
        self.faults: LinkFaults | None = None
        """What rules for links hold, while there are such rules."""
        # Members that were called since their outgoing requests were last taken.
        self._called: set[int] = set()
        self._now = 0

    def join(self, node: Node) -> None:
        """Adds a member, new or restarted, which is reached where its listeners are advertised."""
        self.leave(node.id)
        self.nodes[node.id] = node
        for listener in node.listeners:
            if listener.advertised is not None:
                self._endpoints[VoterEndpoint(*listener.advertised)] = node.id, listener
        self.remote[node.id] = [RemoteChannel(node, channel) for channel in node.channels]

    def leave(self, id: int, now: int = 0) -> None:
        """Removes a member without a word. Requests that it has not answered are lost."""
        self._now = max(self._now, now)
        node = self.nodes.pop(id, None)
        self.paused.discard(id)
        self.remote.pop(id, None)
        if node is not None:
            if self.faults is not None:
                self._lose_later(self.faults, node)
            self._lose(lambda each: node in (each.sender, each.target) and not each.is_lost_later)

    def _lose_later(self, faults: LinkFaults, node: Node) -> None:
        """Reports to the senders, after the delay of a rule, that the node has left."""
        for each in [each for each in self._in_flight if each.target is node and each.sender is not node]:
            if (delay_ms := faults.delay_of_close(node.id, each.sender.id, self._now)) is not None:
                each.is_lost_later, each.expires = True, min(each.expires, self._now + delay_ms)
                each.abandon()

    def isolate(self, id: int) -> None:
        """Cuts the member off from the other members, in both directions."""
        self.isolated.add(id)
        self._lose(lambda each: id in (each.sender.id, each.target.id))

    def rejoin(self, id: int) -> None:
        """Ends the isolation of a member."""
        self.isolated.discard(id)

    def pause(self, id: int) -> None:
        """Pauses the member, as a process that is stopped."""
        self.paused.add(id)

    def resume(self, id: int) -> None:
        """Resumes the member, with the requests that arrived meanwhile."""
        self.paused.discard(id)
        self._completed += self._held_back
        self._held_back = []

    def _lose(self, concerns: Callable[[InFlightRequest], bool]) -> None:
        for each in [each for each in self._in_flight if concerns(each)]:
            each.abandon()
            self._complete(each, RequestFailure.LOST)

    def running(self) -> Iterator[Node]:
        """The members that are not paused."""
        return (node for id, node in list(self.nodes.items()) if id not in self.paused)

    def deliver(self, now: int) -> bool:
        """Delivers requests and responses until nothing moves. True if there may be more to do at
        once."""
        self._now, self._called = now, {*self.nodes}
        for _ in range(ROUNDS):
            if self.faults is not None:
                self._carry(self.faults)
            undelivered, self._undelivered = self._undelivered, []
            for each in undelivered:
                self._begin(each)
            self._cancel_overtaken()
            called, self._called = self._called, set()
            for node in self.running():
                if node.id in called:
                    self._take_outgoing(node)
            completed, self._completed = self._completed, []
            for each, outcome in completed:
                self._bring(each, outcome)
            if not self._called:
                return False
        return True

    def _carry(self, faults: LinkFaults) -> None:
        """Delivers what rules held until now."""
        while True:
            for link in map(set, faults.carry(self._now)):
                self._lose(partial(InFlightRequest.is_on, link=link))
            if faults.is_over:
                self.faults = None
            if faults.is_over or faults.has_rules:
                return

    def _cancel_overtaken(self) -> None:
        """Cancels fetches that wait at their leaders and lack a partition that the sender follows
        since: the sender makes them again with it. Otherwise its records would wait for time to
        pass."""
        for node in self.running():
            fetchers = node.fetchers
            if fetchers is not None and fetchers.have_overtaken:
                tokens = fetchers.overtaken()
                self._lose(partial(InFlightRequest.is_one_of, channel=fetchers, tokens=tokens))

    def _take_outgoing(self, node: Node) -> None:
        node.advance(self._now)
        if node.waiting.ready:
            self._called.add(node.id)
            node.tick(self._now)
        for remote in self.remote[node.id]:
            for send in remote.channel.take_outgoing():
                self._called.add(node.id)
                self._send(node, remote, send)

    def _send(self, node: Node, channel: RemoteChannel, send: OutboundRequest) -> None:
        endpoint = self._endpoints.get(send.to.endpoint)
        if endpoint is None:
            channel.waiting.append(send)
            return
        target = self.nodes.get(endpoint[0])
        in_flight = InFlightRequest(
            node, channel.channel, channel.name, send, target or node, self._now + channel.timeout_ms
        )
        self._in_flight[in_flight] = None
        if target is None or {node.id, target.id} & self.isolated:
            self._complete(in_flight, RequestFailure.LOST)
        elif self.faults is None:
            self._begin(in_flight)
        elif self.faults.is_refused(node.id, target.id, self._now):
            self._complete(in_flight, RequestFailure.LOST)
        else:
            self._hold(self.faults, in_flight, (node.id, target.id), send.body, send.version, self._begin)

    def _begin(self, each: InFlightRequest) -> None:
        """Hands the request to its receiver, unless that is paused."""
        if each not in self._in_flight or each.is_lost_later:
            return
        node, send = each.target, each.send
        if node.id in self.paused:
            self._undelivered.append(each)
            return
        served = self._endpoints[send.to.endpoint][1].apis.get(send.body.api_key or 0)
        version = -1 if served is None else min(send.version, served.highest)
        if served is None or version < max(send.lowest, served.lowest):
            self._complete(each, RequestFailure.UNSUPPORTED_VERSION)
            return
        each.request = request = self._request(each, served, version)
        self._called.add(node.id)
        node.advance(self._now)
        if node.trace.is_on:
            node.trace.begin(request, node.trace.nanos(), cause=send.cause)
        result = dispatch.answer(node, request)
        answered = partial(self._answered, each, request)
        if isinstance(result, GeneratorType):
            each.task = node.waiting.start(result, answered, lambda failure: answered(DISCONNECT))
            if each.task.alive and request.trace is not None:
                request.trace.waits()
        else:
            answered(result)
        node.tick(self._now)

    def _request(self, each: InFlightRequest, served: ServedApi, version: int) -> Request[Any]:
        """The request as it arrives."""
        send, peer = each.send, self._peer(each)
        if _is_passed_on(send, version):
            key = served.api.key
            return Request(key, version, send.token, each.client_id, send.body, peer, received=self._now, size=0)
        written = headers.write_request(downgraded(send.body, version), send.token, each.client_id, version)
        frame = b"".join(written)[SIZE_FIELD:]
        return read_request(frame, read_head(frame), served, peer, self._now)

    def _peer(self, each: InFlightRequest) -> Peer:
        endpoint = each.send.to.endpoint
        listener = self._endpoints[endpoint][1]
        peer = self._peers.get((each.sender.id, endpoint))
        if peer is None or peer.listener is not listener:
            peer = self._peers[each.sender.id, endpoint] = Peer(each.sender.id, "127.0.0.1", 0, listener)
            peer.is_node = peer.is_in_process = True
        return peer

    def _answered(self, each: InFlightRequest, request: Request[Any], answer: Any) -> None:
        answer = without_frame(answer)
        if not isinstance(answer, Message):
            each.end_trace(UNANSWERED if answer is None else DISCONNECTED)
            self._complete(each, RequestFailure.LOST)
        elif _is_passed_on(each.send, request.version):
            each.end_trace(ANSWERED, answer)
            self._send_back(each, with_records_in_memory(answer), request.version)
        else:
            data = b"".join(_in_memory(part) for part in write_response(request, answer))
            each.end_trace(ANSWERED, answer, len(data))
            answer = headers.read_response(data, request.api_key, request.version, SIZE_FIELD)[1]
            self._send_back(each, answer, request.version)

    def _send_back(self, each: InFlightRequest, answer: Message, version: int) -> None:
        each.task = None
        if self.faults is None:
            self._complete(each, answer)
        else:
            ends, deliver = (each.target.id, each.sender.id), partial(self._complete, outcome=answer)
            self._hold(self.faults, each, ends, answer, version, deliver)

    def _hold(
        self,
        faults: LinkFaults,
        each: InFlightRequest,
        ends: tuple[int, int],
        body: Message,
        version: int,
        deliver: Callable[[InFlightRequest], None],
    ) -> None:
        """Delivers the request, or its response, when the rules allow it."""
        from .link_faults import HeldMessage

        size = max(1, sum(map(len, body.parts(version))))
        faults.put(*ends, HeldMessage(size, each, partial(deliver, each)), self._now)

    def _complete(self, each: InFlightRequest, outcome: Outcome) -> None:
        if self._in_flight.pop(each, self) is not self:
            self._completed.append((each, outcome))

    def _bring(self, each: InFlightRequest, outcome: Outcome) -> None:
        """Brings the outcome to the sender, if it is still a member; one that is paused gets it
        later."""
        sender = each.sender
        if self.nodes.get(sender.id) is not sender:
            return
        if sender.id in self.paused:
            self._held_back.append((each, outcome))
            return
        self._called.add(sender.id)
        each.channel.answered(each.send.token, outcome, self._now)
        sender.tick(self._now)

    def tick(self, now: int) -> None:
        """Gives up the requests whose time is over, and calls the channels and nodes that are
        due."""
        self._now = now
        if self.faults is not None:
            self._carry(self.faults)
        for each in [each for each in self._in_flight if each.expires <= now]:
            if self.faults is not None:
                self.faults.forget(each)
            self._complete(each, RequestFailure.LOST)
        for node in self.running():
            for _, channel, _ in node.channels:
                deadline = channel.next_deadline()
                if deadline is not None and deadline <= now:
                    channel.tick(now)
            node.tick(now)

    def next_deadline(self) -> int | None:
        """When a channel is due, or a request is given up (ms). The nodes' own timers are not
        included."""
        found = [each.expires for each in self._in_flight]
        if self.faults is not None and (held := self.faults.next_deadline(self._now)) is not None:
            found.append(held)
        for node in self.running():
            found += [at for _, channel, _ in node.channels if (at := channel.next_deadline()) is not None]
        return min(found, default=None)

    def __repr__(self) -> str:
        return f"{len(self.nodes)} nodes of one process, {len(self._in_flight)} requests in flight between them"


def _is_passed_on(send: OutboundRequest, version: int) -> bool:
    """Whether the request, and its response, are passed on as objects."""
    return version == send.version and isinstance(send.body, FetchRequest)


def with_records_in_memory(answer: Message) -> Message:
    """The response to a fetch, with the records that lie in files read."""
    assert isinstance(answer, FetchResponse)
    for topic in answer.responses:
        for data in topic.partitions:
            if data.records:
                data.records = _in_memory(data.records)
    return answer


def _in_memory(part: Buffer | FileSlice) -> Buffer:
    return part.read() if isinstance(part, FileSlice) else part
