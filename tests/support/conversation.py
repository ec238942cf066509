"""Transcripts: the requests of clients, the responses, and the time between them.

    node group.initial.rebalance.delay.ms=0        settings of the node, before anything else; one
                                                   with blanks is in single quotation marks
    a > Metadata v12 {topics: null}                 client a sends a request
    a < {brokers: [{nodeId: 1}]}                    and has this answer by now
    a < nothing yet                                 or has none
                                                    if its answer is not shown, it has come by the
                                                    next request of a, and has no error
    a closed                                        or was disconnected
    +500ms                                          time passes (ms, s, m, h)
    t-0 elected                                     t-0's leader is elected again: a new epoch
    t-0 elected with replica 2                      and gets this replica, which is in sync
    # a comment; a line that begins with white space continues the line before

Fields are in YAML's short form, named as in Kafka's JSON: see `values`, `records` and `matching`.
Every client has a connection of its own, from 127.0.0.1, and from 127.0.0.2 if its name begins with
`guest`. All messages are bytes of the named version. A version
above the newest one has the body of the newest, and its response is read as version 0 (KIP-511).
The error codes of the responses are kept for the table of error codes.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from kafkadouble.messages import headers, registry
from kafkadouble.messages.generated.partition_change_record import PartitionChangeRecord
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.network.connection_protocol import connection_of
from kafkadouble.server.network.line import Buffers
from kafkadouble.server.node import Node
from kafkadouble.server.requests.request import Peer
from kafkadouble.wire.frame import Frames

from .listeners import listeners_of
from .matching import NOW, UNITS, Mismatch, errors_in, filled, match
from .values import plain, struct

VERSION = slice(6, 8)
"""The position of the version in a framed request."""

GUEST, GUEST_HOST = "guest", "127.0.0.2"
"""Clients with names that begin so, and their address, which ACLs can name."""

START = 1_700_000_000_000

REQUEST = re.compile(r"(\w+) > (\w+) v(\d+)\s*(.*)\Z", re.DOTALL)
ANSWER = re.compile(r"(\w+) < (.*)\Z", re.DOTALL)
CLOSED = re.compile(r"(\w+) closed\Z")
STEP = re.compile(r"\+(\d+)(ms|s|m|h)\Z")
ELECTED = re.compile(r"(\S+)-(\d+) elected(?: with replica (\d+))?\Z")
NODE = re.compile(r"node (.*)\Z", re.DOTALL)


class Client:
    """The client's side of a connection, without a socket."""

    def __init__(self, name: str, node: Node, number: int) -> None:
        self.name, self.closed = name, False
        host = GUEST_HOST if name.startswith(GUEST) else "127.0.0.1"
        self.connection = connection_of(
            node, Peer(number, host, 40_000 + number, node.listeners[0]), self, 100 * 1024 * 1024
        )
        self.answers: list[Any] = []
        self.codes: set[tuple[str, str]] = set()
        self.versions: set[tuple[str, int]] = set()
        self.is_settled = True
        """Whether the transcript shows the answer to the last request, or that it has none yet."""
        self._frames = Frames()
        self._asked: list[tuple[int, int]] = []
        self._count = 0

    def ask(self, api: str, version: int, body: dict[str, Any], now: int) -> None:
        """Sends a request."""
        found = registry.api_named(api)
        newest = found.stable_versions[1]
        self._asked.append((found.key, version if version <= newest else 0))
        self._count += 1
        request: Any = struct(found.request, body)
        frame = bytearray(b"".join(headers.write_request(request, self._count, self.name, min(version, newest))))
        frame[VERSION] = version.to_bytes(2)
        self.send(bytes(frame), now)

    def send(self, frame: bytes, now: int) -> None:
        """Gives the bytes to the connection."""
        self.connection.receive(frame, now)

    def write(self, buffers: Buffers) -> None:
        for frame in self._frames.feed(b"".join(buffers)):
            key, version = self._asked.pop(0)
            answer = headers.read_response(frame, key, version)[1]
            self.versions.add((registry.api(key).name, version))
            self.codes |= {(registry.api(key).name, code) for _, code in errors_in(plain(answer), "")}
            self.answers.append(answer)

    def pass_over(self) -> None:
        """Raises Mismatch unless the last request was answered without an error, or waits."""
        if not (self.is_settled or self.answers):
            raise Mismatch(f"{self.name} has no answer to its last request")
        for answer in self.answers:
            match({}, plain(answer), {})
        self.answers.clear()

    def close(self) -> None:
        self.closed = True

    def read_on(self, reading: bool) -> None:
        """A client without a socket is read whenever it sends."""

    def turn_is_over(self, ahead: bool) -> bool:
        return False

    def others_first(self) -> None:
        """A transcript sends one request at a time."""
        raise AssertionError(f"{self.name} sent too much ahead")


class Conversation:
    """A transcript being played."""

    def __init__(self) -> None:
        self.settings: dict[str, str] = {}
        self.now = START
        self.known: dict[str, Any] = {NOW: START}
        self._clients: dict[str, Client] = {}
        self._node: Node | None = None

    @property
    def node(self) -> Node:
        if self._node is None:
            settings = Settings(self.settings)
            listeners = listeners_of(settings, ("127.0.0.1", 9092))
            self._node = Node(settings, listeners=listeners, now=self.now, seed=1)
        return self._node

    def client(self, name: str) -> Client:
        if name not in self._clients:
            self._clients[name] = Client(name, self.node, 1 + len(self._clients))
        return self._clients[name]

    def play(self, line: str) -> None:
        """One line of the transcript."""
        for pattern, action in (
            (REQUEST, self._request),
            (ANSWER, self._answer),
            (CLOSED, self._closed),
            (STEP, self._step),
            (ELECTED, self._elected),
            (NODE, self._settings),
        ):
            if found := pattern.match(line):
                action(*found.groups())
                return
        raise ValueError(f"this is no line of a transcript: {line!r}")

    def _settings(self, text: str) -> None:
        self.settings |= dict(word.split("=", 1) for word in shlex.split(text))

    def _request(self, name: str, api: str, version: str, text: str) -> None:
        body = filled(yaml.safe_load(text) or {}, self.known)
        client = self.client(name)
        client.pass_over()
        client.is_settled = False
        client.ask(api, int(version), body, self.now)

    def _answer(self, name: str, text: str) -> None:
        answers = self.client(name).answers
        self.client(name).is_settled = True
        if text == "nothing yet":
            if answers:
                raise Mismatch(f"{name} has an answer: {plain(answers[0])}")
            return
        if not answers:
            raise Mismatch(f"{name} has no answer" + (" and is disconnected" if self.client(name).closed else ""))
        match(yaml.safe_load(text), plain(answers.pop(0)), self.known)

    def _closed(self, name: str) -> None:
        if not self.client(name).closed:
            raise Mismatch(f"{name} is still connected")
        self.client(name).is_settled = True

    def _step(self, count: str, unit: str) -> None:
        """Advances the clock, with a tick at every deadline on the way."""
        end = self.now + int(count) * UNITS[unit]
        while (due := self.node.next_deadline()) is not None and due <= end:
            self.now = max(self.now, due)
            self.node.tick(self.now)
        self.now = self.known[NOW] = end
        self.node.tick(end)

    def _elected(self, name: str, index: str, other: str | None) -> None:
        topic = self.node.controller.image.topic_named(name)
        if topic is None:
            raise Mismatch(f"there is no topic {name}")
        leader = topic.partitions[int(index)].leader
        change = PartitionChangeRecord(topic_id=topic.id, partition_id=int(index), leader=leader)
        if other is not None:
            change.replicas = change.isr = [leader, int(other)]
        self.node.controller.commit([change])
        self.node.tick(self.now)

    @property
    def codes(self) -> set[tuple[str, str]]:
        """API and error code of every error in a response."""
        return {code for client in self._clients.values() for code in client.codes}

    @property
    def versions(self) -> set[tuple[str, int]]:
        """API and version of every response."""
        return {version for client in self._clients.values() for version in client.versions}

    def finish(self) -> None:
        """Raises Mismatch if a client has an error that the transcript does not show."""
        for client in self._clients.values():
            client.pass_over()


def lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a transcript with their numbers, continuations joined."""
    started, parts = 0, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        bare = re.sub(r"(^|\s)#.*", "", line).rstrip()
        if not bare:
            continue
        if bare[0].isspace():
            parts.append(bare.strip())
            continue
        if parts:
            yield started, " ".join(parts)
        started, parts = number, [bare]
    if parts:
        yield started, " ".join(parts)


def play(path: Path) -> Conversation:
    """Plays a transcript to its end; a Mismatch names the line."""
    conversation = Conversation()
    for number, line in lines(path.read_text()):
        try:
            conversation.play(line)
        except Mismatch as mismatch:
            raise Mismatch(f"{path.name} line {number}: {mismatch}") from None
    conversation.finish()
    return conversation
