"""One long-lived node without sockets: hostile connections on one side, a well-behaved client on
the other, and the rules that must hold between them.

Rules that are checked after every piece of bytes: no exception escapes; no error is logged; a
connection is open, or was closed with exactly one warning that names its peer. Checked now and
then: the good client gets correct answers, the bytes held for connections are those of open ones,
and no handler waits for a closed connection.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kafkadouble.messages import headers
from kafkadouble.messages.generated.delete_groups import DeleteGroupsRequest
from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.heartbeat import HeartbeatRequest
from kafkadouble.messages.generated.join_group import JoinGroupRequest
from kafkadouble.messages.generated.list_groups import ListGroupsRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.sync_group import SyncGroupRequest
from kafkadouble.messages.message import Message
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.network.connection import Connection
from kafkadouble.server.network.connection_state import OVER
from kafkadouble.server.network.line import Buffers
from kafkadouble.server.node import Node
from kafkadouble.server.requests.request import Peer
from kafkadouble.server.requests.waiting import HandlerTask
from kafkadouble.wire.frame import Frames
from tests.support.listeners import BROKER, listeners_of

from .sockets import create, produce_and_fetch

START = 1_700_000_000_000
MAX_FRAME = 100 * 1024 * 1024
GOOD = "good"
INTERNAL = "__consumer_offsets"
FOR_EVIL = ("a", "b", "x.y", "compacted")


class Log(logging.Handler):
    """The log records since the last call."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    def taken(self) -> list[logging.LogRecord]:
        """Returns and removes the records."""
        found, self.records = self.records, []
        return found


@contextmanager
def logged() -> Iterator[Log]:
    """Captures every log record of the server; loggers are restored afterwards."""
    logger, log = logging.getLogger("kafkadouble.server"), Log()
    level, propagate = logger.level, logger.propagate
    logger.addHandler(log)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield log
    finally:
        logger.removeHandler(log)
        logger.setLevel(level)
        logger.propagate = propagate


class Line:
    """The transport of a connection without a socket; it keeps what is written, on request."""

    def __init__(self, keep: bool = False) -> None:
        self.closed, self.reads, self.goes_on = False, True, False
        self.written: list[bytes] | None = [] if keep else None

    def write(self, buffers: Buffers) -> None:
        assert not self.closed, "an answer after the end"
        if self.written is not None:
            self.written.append(b"".join(buffers))

    def close(self) -> None:
        assert not self.closed, "closed twice"
        self.closed = True

    def read_on(self, reading: bool) -> None:
        self.reads = reading

    def turn_is_over(self, ahead: bool) -> bool:
        return False

    def others_first(self) -> None:
        self.goes_on = True


class Hostile:
    def __init__(self, stage: Stage, number: int) -> None:
        self.stage, self.line = stage, Line()
        self.peer = Peer(number, "203.0.113.9", number % 65536, BROKER)
        self.connection = Connection(stage.node, self.peer, self.line, MAX_FRAME)

    def send(self, data: bytes) -> bool:
        """Sends these bytes; returns whether the connection is still open."""
        self.connection.receive(data, self.stage.now)
        while self.line.goes_on:
            self.line.goes_on = False
            self.connection.pump(self.stage.now)
        self.stage.settle()
        return self.still_open()

    def still_open(self) -> bool:
        self.stage.read_log()
        assert (self.connection.state in OVER) == self.line.closed
        if not self.line.closed:
            return True
        mine = self.stage.closing.pop(repr(self.peer), [])
        assert len(mine) == 1, (self.peer, mine)
        assert "\n" not in mine[0], mine
        self.leave()
        return False

    def leave(self) -> None:
        """Does what the listener does when the socket is closed."""
        self.connection.lost()


class Stage:
    """The node, its time, its log."""

    def __init__(self, log: Log, seed: int, settings: dict[str, object] | None = None) -> None:
        self.log, self.now = log, START
        given = Settings(settings or {})
        listeners = listeners_of(given, ("127.0.0.1", 9092))
        self.node = Node(given, listeners=listeners, now=self.now, seed=seed)
        self._numbers = iter(range(1, 10**9))
        self.closing: dict[str, list[str]] = {}
        """Peer -> the messages logged when its connection was ended, until the test checks that
        connection."""

    def hostile(self) -> Hostile:
        return Hostile(self, next(self._numbers))

    def settle(self) -> None:
        """Completes all requests that take turns."""
        while self.node.waiting.is_busy:
            self.node.tick(self.now)

    def read_log(self) -> None:
        """Checks that no error was logged. Keeps closed peers, since a request of one connection
        can end the wait of another."""
        for record in self.log.taken():
            assert record.levelno < logging.ERROR, logging.Formatter().format(record)
            line = record.getMessage()
            if line.endswith(": closing"):
                self.closing.setdefault(line.partition(" ")[0], []).append(line)

    def pass_time(self, milliseconds: int) -> None:
        """Steps the time as the listener does: stops whenever something is due."""
        end = self.now + milliseconds
        while (deadline := self.node.next_deadline()) is not None and deadline <= end:
            self.now = max(self.now, deadline)
            self.node.tick(self.now)
        self.now = end
        self.node.tick(end)

    @property
    def waiting(self) -> set[HandlerTask]:
        """The handlers that wait for partitions."""
        return {task for partition in self.node.partitions for task in partition.waiters.tasks}


class Good:
    """A well-behaved client: it produces, fetches, is a member of a group, and checks every
    answer."""

    def __init__(self, stage: Stage) -> None:
        self.stage, self.line = stage, Line(keep=True)
        self.connection = Connection(stage.node, Peer(0, "127.0.0.1", 40_000, BROKER), self.line, MAX_FRAME)
        self._frames, self._count = Frames(), 0
        self.create(GOOD)
        for topic in FOR_EVIL:
            self.create(topic, partitions=2)
        self.member, self.generation = self._join()
        self.offset = 0

    def ask(self, body: Message, version: int) -> Any:
        """The answer, which must be there as soon as all requests that take turns are completed."""
        assert body.api_key is not None
        assert self.line.written is not None
        self._count += 1
        data = b"".join(headers.write_request(body, self._count, "good", version))
        self.connection.receive(data, self.stage.now)
        while self.stage.node.waiting.is_busy and not self.line.written:
            self.stage.node.tick(self.stage.now)
        written, self.line.written[:] = b"".join(self.line.written), []
        (frame,) = self._frames.feed(written)
        correlation_id, answer = headers.read_response(frame, body.api_key, version)
        assert correlation_id == self._count
        return answer

    def create(self, name: str, partitions: int = 1) -> None:
        create(self, name, partitions, {"cleanup.policy": "compact"} if name == "compacted" else {})

    def _join(self) -> tuple[str, int]:
        self.ask(FindCoordinatorRequest(key=GOOD), 3)
        protocol = JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=b"")
        request = JoinGroupRequest(
            group_id=GOOD,
            session_timeout_ms=1_800_000,
            rebalance_timeout_ms=1_800_000,
            protocol_type="consumer",
            protocols=[protocol],
        )
        request.member_id = self.ask(request, 5).member_id
        joined = self.ask(request, 5)
        assert (joined.error_code, joined.leader) == (0, request.member_id)
        assigned = SyncGroupRequest.SyncGroupRequestAssignment(member_id=request.member_id, assignment=b"mine")
        synced = self.ask(
            SyncGroupRequest(
                group_id=GOOD, generation_id=joined.generation_id, member_id=request.member_id, assignments=[assigned]
            ),
            3,
        )
        assert (synced.error_code, bytes(synced.assignment)) == (0, b"mine")
        return request.member_id, joined.generation_id

    def works(self) -> None:
        """Checks that everything works."""
        produce_and_fetch(self, GOOD, self.offset, self.stage.now)
        self.offset += 1
        beat = self.ask(
            HeartbeatRequest(group_id=GOOD, generation_id=self.generation, member_id=self.member),
            3,
        )
        assert beat.error_code == 0, beat
        response = self.ask(MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=GOOD)]), 9)
        assert (response.topics[0].error_code, len(response.topics[0].partitions)) == (0, 1), response

    def tidy(self) -> None:
        """Deletes what hostile requests created; leaves this client's topics, and those that
        existed at the beginning."""
        image = self.stage.node.controller.image
        names = [name for name in image.topic_ids if name not in (GOOD, INTERNAL)]
        deleted = self.ask(DeleteTopicsRequest(topic_names=names, timeout_ms=1000), 5)
        assert {result.error_code for result in deleted.responses} <= {0}, deleted
        groups = [listed.group_id for listed in self.ask(ListGroupsRequest(), 2).groups if listed.group_id != GOOD]
        self.ask(DeleteGroupsRequest(groups_names=groups), 1)
        for topic in FOR_EVIL:
            self.create(topic, partitions=2)
