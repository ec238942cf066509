"""Nodes of one process, and what they say to one another: carried as bytes from one to the other, without a socket, and records as they are.

Rules. What a node sends to a member is written and read in the newest version that both know, handled past faults and history, which are about
clients, and answered when the member does; what it sends elsewhere is kept in `elsewhere` for the shell of `peers`. A fetch and its answer are
handed on as they are: there are so many of them, each is made anew, and nobody changes one. Nothing is lost on the way but what goes to or
comes from a member that has left or is isolated; to one that is paused it waits, as long as the sender does. This file knows no clock and no
socket: `carry` moves everything that can move now, `tick` what is due.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import GeneratorType
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import registry
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.message import Message
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.file_slice import FileSlice

from .. import dispatch
from ..raft.links import Failure, Send
from ..raft.messages import fitted
from ..raft.voters import Endpoint
from ..requests.request import Peer, Request

if TYPE_CHECKING:
    from ..apis.row import ServedApi
    from ..node import Node
    from ..requests.waiting import HandlerTask
    from .peers import Sending

ROUNDS = 64
"""Of questions and answers in one go, after which others have their turn: two nodes may have something to say to one another for ever."""

Outcome = Message | Failure


class Elsewhere:
    """What one conversation has to say to nodes that are no members: a `Sending` for the shell of `peers`."""

    def __init__(self, node: Node, channel: Sending, name: str, timeout_ms: int) -> None:
        self._node, self.channel, self.name, self.timeout_ms = node, channel, name, timeout_ms
        self.waiting: list[Send] = []

    def take_outgoing(self) -> list[Send]:
        taken, self.waiting = self.waiting, []
        return taken

    def answered(self, token: int, response: Message | Failure | None, now: int) -> None:
        self.channel.answered(token, response, now)
        self._node.tick(now)

    def tick(self, now: int) -> None: ...

    def next_deadline(self) -> int | None:
        return None


class _UnderWay:
    """A request of one member to another. `expires` is when the sender gives up (ms)."""

    __slots__ = ("channel", "expires", "send", "sender", "target", "task")

    def __init__(self, sender: Node, channel: Sending, send: Send, target: Node, expires: int) -> None:
        self.sender, self.channel, self.send, self.target, self.expires = sender, channel, send, target, expires
        self.task: HandlerTask | None = None


class InProcess:
    """The members, by id."""

    def __init__(self) -> None:
        self.nodes: dict[int, Node] = {}
        self.isolated: set[int] = set()
        self.paused: set[int] = set()
        self.elsewhere: dict[int, list[Elsewhere]] = {}  # by member, one for each of its conversations
        self._places: dict[
            Endpoint, tuple[int, Mapping[int, ServedApi]]
        ] = {}  # of members, also of those that have left
        self._peers: dict[tuple[int, Endpoint], Peer] = {}
        self._under_way: dict[_UnderWay, None] = {}
        self._not_begun: list[_UnderWay] = []
        self._come: list[tuple[_UnderWay, Outcome]] = []
        self._held: list[tuple[_UnderWay, Outcome]] = []  # for members that are paused
        self._touched: set[int] = set()  # who may have something to say since he was asked last
        self._now = 0

    def join(self, node: Node, places: Mapping[tuple[str, int], Mapping[int, ServedApi]]) -> None:
        """A member, new or come back: where it is reached, and what is served there."""
        self.leave(node.id)
        self.nodes[node.id] = node
        for place, apis in places.items():
            self._places[Endpoint(*place)] = node.id, apis
        self.elsewhere[node.id] = [
            Elsewhere(node, channel, name, node.settings.int(setting)) for name, channel, setting in node.channels
        ]

    def leave(self, id: int) -> None:
        """It is gone, without a word; whoever waits for its answer learns that the connection broke."""
        node = self.nodes.pop(id, None)
        self.paused.discard(id)
        self.elsewhere.pop(id, None)
        if node is not None:
            self._break(lambda each: node in (each.sender, each.target))

    def isolate(self, id: int) -> None:
        """The other members do not reach it any more, nor it them."""
        self.isolated.add(id)
        self._break(lambda each: id in (each.sender.id, each.target.id))

    def rejoin(self, id: int) -> None:
        """They do again."""
        self.isolated.discard(id)

    def pause(self, id: int) -> None:
        """It does nothing from now on, as a process that is stopped."""
        self.paused.add(id)

    def resume(self, id: int) -> None:
        """It goes on, with what came meanwhile."""
        self.paused.discard(id)
        self._come += self._held
        self._held = []

    def _break(self, concerns: Callable[[_UnderWay], bool]) -> None:
        for each in [each for each in self._under_way if concerns(each)]:
            if each.task is not None:
                each.task.close()
            self._end(each, Failure.LOST)

    def running(self) -> Iterator[Node]:
        """The members that are not paused."""
        return (node for id, node in list(self.nodes.items()) if id not in self.paused)

    def carry(self, now: int) -> bool:
        """Bring requests and answers to where they go until nothing moves; True when there may be more to do at once."""
        self._now, self._touched = now, {*self.nodes}
        for _ in range(ROUNDS):
            begun, self._not_begun = self._not_begun, []
            for each in begun:
                self._begin(each)
            self._take_back()
            touched, self._touched = self._touched, set()
            for node in self.running():
                if node.id in touched:
                    self._take_outgoing(node)
            come, self._come = self._come, []
            for each, outcome in come:
                self._bring(each, outcome)
            if not self._touched:
                return False
        return True

    def _take_back(self) -> None:
        """Fetches that wait at their leaders, and lack what their senders follow since, are taken back and made anew: what is new would
        wait for time to pass otherwise."""
        for node in self.running():
            fetchers = node.fetchers
            if fetchers is not None and fetchers.have_overtaken:
                self._break(partial(_is_one_of, fetchers, fetchers.overtaken()))

    def _take_outgoing(self, node: Node) -> None:
        node.now = self._now
        if node.waiting.ready:
            self._touched.add(node.id)
            node.tick(self._now)
        for index, (_, channel, _) in enumerate(node.channels):
            for send in channel.take_outgoing():
                self._touched.add(node.id)
                self._send(node, index, send)

    def _send(self, node: Node, index: int, send: Send) -> None:
        place = self._places.get(send.to.endpoint)
        elsewhere = self.elsewhere[node.id][index]
        if place is None:
            elsewhere.waiting.append(send)
            return
        target = self.nodes.get(place[0])
        under_way = _UnderWay(node, elsewhere.channel, send, target or node, self._now + elsewhere.timeout_ms)
        self._under_way[under_way] = None
        if target is None or {node.id, target.id} & self.isolated:
            self._end(under_way, Failure.LOST)
        else:
            self._begin(under_way)

    def _begin(self, each: _UnderWay) -> None:
        """Hand it in, unless the member is paused."""
        if each not in self._under_way:
            return
        node, send, key = each.target, each.send, each.send.body.api_key or 0
        if node.id in self.paused:
            self._not_begun.append(each)
            return
        apis = self._places[send.to.endpoint][1]
        served = apis.get(key)
        version = -1 if served is None else min(send.version, served.highest)
        if served is None or version < max(send.lowest, served.lowest):
            self._end(each, Failure.UNSUPPORTED_VERSION)
            return
        body = _there(send, version, served)
        peer, client = self._peer(each.sender, send.to.endpoint, apis), str(each.sender.id)
        request: Request[Any] = Request(key, version, send.token, client, body, peer, received=self._now, size=0)
        self._touched.add(node.id)
        node.now = self._now
        result = dispatch.handled(node, request)
        answered = partial(self._answered, each, version)
        if isinstance(result, GeneratorType):
            each.task = node.waiting.start(result, answered, lambda failure: self._end(each, Failure.LOST))
        else:
            answered(result)
        node.tick(self._now)

    def _peer(self, sender: Node, endpoint: Endpoint, apis: Mapping[int, ServedApi]) -> Peer:
        peer = self._peers.get((sender.id, endpoint))
        if peer is None or peer.apis is not apis:
            peer = self._peers[sender.id, endpoint] = Peer(sender.id, "127.0.0.1", 0, apis=apis)
        return peer

    def _answered(self, each: _UnderWay, version: int, answer: Any) -> None:
        if not isinstance(answer, Message):
            self._end(each, Failure.LOST)
            return
        send = each.send
        self._end(each, handed_on(answer) if _is_fetch(send, version) else _answered_there(answer, version, send))

    def _end(self, each: _UnderWay, outcome: Outcome) -> None:
        if self._under_way.pop(each, self) is not self:
            self._come.append((each, outcome))

    def _bring(self, each: _UnderWay, outcome: Outcome) -> None:
        """Tell the sender, if it is still the same; one that is paused learns of it later."""
        sender = each.sender
        if self.nodes.get(sender.id) is not sender:
            return
        if sender.id in self.paused:
            self._held.append((each, outcome))
            return
        self._touched.add(sender.id)
        sender.now = self._now
        each.channel.answered(each.send.token, outcome, self._now)
        sender.tick(self._now)

    def tick(self, now: int) -> None:
        """Do what is due: give up what was not answered, and call the conversations and nodes that want to be called."""
        self._now = now
        for each in [each for each in self._under_way if each.expires <= now]:
            self._end(each, Failure.LOST)
        for node in self.running():
            for _, channel, _ in node.channels:
                deadline = channel.next_deadline()
                if deadline is not None and deadline <= now:
                    channel.tick(now)
            node.tick(now)

    def next_deadline(self) -> int | None:
        """When a conversation wants to be called, or gives up (ms); the nodes' own time-outs are not among it."""
        found = [each.expires for each in self._under_way]
        for node in self.running():
            found += [at for _, channel, _ in node.channels if (at := channel.next_deadline()) is not None]
        return min(found, default=None)

    def __repr__(self) -> str:
        return f"{len(self.nodes)} nodes of one process, {len(self._under_way)} requests under way between them"


def _is_fetch(send: Send, version: int) -> bool:
    return version == send.version and isinstance(send.body, FetchRequest)


def _there(send: Send, version: int, served: ServedApi) -> Message:
    """A request as it arrives."""
    if _is_fetch(send, version):
        return send.body
    return served.api.request.decode(fitted(send.body, version).encode(version), version)


def _answered_there(answer: Message, version: int, send: Send) -> Message:
    """An answer as it arrives: written, and read again."""
    kind = registry.api(send.body.api_key or 0).response
    return kind.decode(b"".join(_in_memory(part) for part in answer.parts(version)), version)


def handed_on(answer: Message) -> Message:
    """The answer to a fetch, with records that lie in memory."""
    assert isinstance(answer, FetchResponse)
    for topic in answer.responses:
        for data in topic.partitions:
            if data.records:
                data.records = _in_memory(data.records)
    return answer


def _is_one_of(channel: Sending, tokens: set[int], each: _UnderWay) -> bool:
    return each.channel is channel and each.send.token in tokens


def _in_memory(part: Buffer | FileSlice) -> Buffer:
    return part.read() if isinstance(part, FileSlice) else part
