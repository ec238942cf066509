"""Attacks on a broker, each from its own process, while a well-behaved client works.

    python -m tests.hostile.attacks NAME HOST PORT SCALE

`scale` is 1 for an attack at its full size; the tests run a part of it. An attack ends by itself:
its requests are answered, or its connections are closed. `benchmarks.attacks` measures how much the
well-behaved client is slowed down by each attack at its full size.
"""

from __future__ import annotations

import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from kafkadouble.messages import headers
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.heartbeat import HeartbeatRequest
from kafkadouble.messages.generated.join_group import JoinGroupRequest
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.sync_group import SyncGroupRequest
from kafkadouble.messages.message import Message
from kafkadouble.wire.batch import encode_batch
from kafkadouble.wire.record import Record

from .bombs import CODECS, MB, bomb
from .sockets import Broker, Client, create, fetched, framed, produced

Address = tuple[str, int]
TOPICS, PARTITIONS, WIDE = 5, 9800, 49_000
TIMEOUT_S = 120
JOIN, SYNC, HEARTBEAT = (11, 3), (14, 1), (12, 1)
"""API key and version."""

REBALANCE_IN_PROGRESS = 27
HOLD_S = 2
"""How long idle connections are held open."""

HELLO = framed(ApiVersionsRequest(client_software_name="evil", client_software_version="1"), 3)


def connected(address: Address, count: int) -> list[socket.socket]:
    made = [socket.create_connection(address, TIMEOUT_S) for _ in range(count)]
    for each in made:
        each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


class Exchange:
    """A frame that is being sent, and the answer that is being read."""

    def __init__(self, sock: socket.socket, frame: bytes) -> None:
        self.sock, self.unsent, self.answer = sock, memoryview(frame), bytearray()
        sock.setblocking(False)

    def go_on(self, events: int) -> bool:
        """Whether more bytes of the answer are to come."""
        if events & selectors.EVENT_WRITE:
            self.unsent = self.unsent[self.sock.send(self.unsent) :]
        if events & selectors.EVENT_READ:
            more = self.sock.recv(MB)
            assert more, "the broker closed a connection"
            self.answer += more
        return len(self.answer) < 4 or len(self.answer) < 4 + int.from_bytes(self.answer[:4])


Reply = Callable[[socket.socket, bytes], bytes]
BOTH = selectors.EVENT_READ | selectors.EVENT_WRITE


def answered(socks: Iterable[socket.socket], frames: Iterable[bytes], reply: Reply = lambda sock, answer: b"") -> None:
    """Sends each socket its frame, all at once, and reads the answers as they arrive. `reply`
    returns the next frame to send, and nothing at the end."""
    with selectors.DefaultSelector() as selector:
        for sock, frame in zip(socks, frames, strict=True):
            selector.register(sock, BOTH, Exchange(sock, frame))
        deadline = time.monotonic() + TIMEOUT_S
        while left := len(selector.get_map()):
            assert time.monotonic() < deadline, f"{left} connections are not answered"
            for key, events in selector.select(1):
                if not key.data.go_on(events):
                    more = reply(key.data.sock, bytes(key.data.answer[4:]))
                    if more:
                        selector.modify(key.fileobj, BOTH, Exchange(key.data.sock, more))
                    else:
                        selector.unregister(key.fileobj)
                elif events & selectors.EVENT_WRITE and not len(key.data.unsent):
                    selector.modify(key.fileobj, selectors.EVENT_READ, key.data)


def wide_topics(client: Client, scale: float) -> None:
    for number in range(TOPICS):
        create(client, f"wide-{number}", int(PARTITIONS * scale))


def in_wide_topics(scale: float) -> Iterator[tuple[str, range]]:
    return ((f"wide-{number}", range(int(PARTITIONS * scale))) for number in range(TOPICS))


def ask_widely(address: Address, message: Message, version: int) -> None:
    """The same request on ten connections at once, three times."""
    frame = framed(message, version)
    socks = connected(address, 10)
    for _ in range(3):
        answered(socks, [frame] * len(socks))


def wide_metadata(address: Address, scale: float) -> None:
    ask_widely(address, MetadataRequest(topics=None), 12)


def unknown_names(address: Address, scale: float) -> None:
    names = (f"unknown-{number}" for number in range(int(WIDE * scale)))
    topics = [MetadataRequest.MetadataRequestTopic(name=name) for name in names]
    ask_widely(address, MetadataRequest(topics=topics, allow_auto_topic_creation=False), 12)


def wide_fetch(address: Address, scale: float) -> None:
    topics = [
        FetchRequest.FetchTopic(
            topic=name, partitions=[FetchRequest.FetchPartition(partition=at, partition_max_bytes=MB) for at in indexes]
        )
        for name, indexes in in_wide_topics(scale)
    ]
    ask_widely(address, FetchRequest(max_wait_ms=0, max_bytes=MB, session_epoch=-1, topics=topics), 11)


def wide_list_offsets(address: Address, scale: float) -> None:
    of = ListOffsetsRequest
    for timestamp in (-1, 5):
        topics = [
            of.ListOffsetsTopic(
                name=name,
                partitions=[of.ListOffsetsPartition(partition_index=at, timestamp=timestamp) for at in indexes],
            )
            for name, indexes in in_wide_topics(scale)
        ]
        ask_widely(address, ListOffsetsRequest(topics=topics), 7)


class Member:
    """A member of a group of five: it joins, syncs and heartbeats, until all five are in."""

    SIZE = 5

    def __init__(self, group: list[int], number: int) -> None:
        self._group = group  # its number, and the last known count of its members
        self._name, self._client = f"group-{group[0]}", f"member-{number}"
        self._id, self._generation, self._asked = "", -1, JOIN

    def join(self) -> bytes:
        protocol = JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=bytes(50))
        request = JoinGroupRequest(
            group_id=self._name,
            session_timeout_ms=60_000,
            rebalance_timeout_ms=60_000,
            member_id=self._id,
            protocol_type="consumer",
            protocols=[protocol],
        )
        return self._ask(request, JOIN)

    def reply(self, sock: socket.socket, frame: bytes) -> bytes:
        answer: Any = headers.read_response(frame, *self._asked)[1]
        if answer.error_code:
            assert answer.error_code == REBALANCE_IN_PROGRESS, answer
            return self.join()
        if self._asked == JOIN:
            return self._sync(answer)
        return b"" if self._group[1] == self.SIZE else self._heartbeat()

    def _sync(self, joined: Any) -> bytes:
        self._id, self._generation = joined.member_id, joined.generation_id
        assigned = []
        if joined.members:  # it is the leader of the group
            self._group[1] = len(joined.members)
            of = SyncGroupRequest.SyncGroupRequestAssignment
            assigned = [of(member_id=each.member_id, assignment=bytes(30)) for each in joined.members]
        request = SyncGroupRequest(
            group_id=self._name, generation_id=self._generation, member_id=self._id, assignments=assigned
        )
        return self._ask(request, SYNC)

    def _heartbeat(self) -> bytes:
        request = HeartbeatRequest(group_id=self._name, generation_id=self._generation, member_id=self._id)
        return self._ask(request, HEARTBEAT)

    def _ask(self, request: Message, api: tuple[int, int]) -> bytes:
        self._asked = api
        return framed(request, api[1], self._client)


def joins(address: Address, scale: float) -> None:
    """1,000 groups of 5 members join at once."""
    groups = [[number, 0] for number in range(int(1000 * scale))]
    members = [Member(group, number) for group in groups for number in range(Member.SIZE)]
    socks = connected(address, len(members))
    of = dict(zip(socks, members, strict=True))
    answered(socks, [each.join() for each in members], lambda sock, answer: of[sock].reply(sock, answer))


def coordinator(client: Client, scale: float) -> None:
    (found,) = client.ask(FindCoordinatorRequest(coordinator_keys=["group"]), 4).coordinators
    assert found.error_code == 0


def bombs(codec: str) -> Callable[[Address, float], None]:
    def attack(address: Address, scale: float) -> None:
        frame = framed(produced(bomb(CODECS[codec], int(128 * MB * scale)), "evil"), 9)
        ask = connected(address, 10)
        for _ in range(2):
            answered(ask, [frame] * len(ask))

    return attack


def slow_connections(address: Address, scale: float) -> None:
    """9,000 connections, each of which sends a byte now and then."""
    socks = connected(address, int(9000 * scale))
    for byte in HELLO[:3]:
        for sock in socks:
            sock.send(bytes((byte,)))
    time.sleep(HOLD_S * scale)


def waiting_fetches(address: Address, scale: float) -> None:
    """5,000 fetches wait for one partition, which is written to ten times."""
    socks = connected(address, int(5000 * scale))
    writer = Writer(address)
    for offset in range(10):
        frame = framed(fetched(offset, "evil", max_wait_ms=60_000, min_bytes=1), 11)
        for sock in socks:
            sock.setblocking(True)
            sock.sendall(frame)
        writer.write()
        answered(socks, [b""] * len(socks))


class Writer:
    def __init__(self, address: Address) -> None:
        self._sock = connected(address, 1)
        self._frame = framed(produced(bytes(encode_batch([Record(0, 0, None, b"v", ())])), "evil"), 9)

    def write(self) -> None:
        answered(self._sock, [self._frame])


def half_frames(address: Address, scale: float) -> None:
    socks = connected(address, int(1000 * scale))
    for number, sock in enumerate(socks):
        sock.sendall((100 * MB).to_bytes(4) + bytes(HELLO[4:9]) + bytes(number % 2 * 30_000))
    time.sleep(HOLD_S * scale)


def unread_answers(address: Address, scale: float) -> None:
    writer = Writer(address)
    for _ in range(20):
        writer.write()
    poll = framed(MetadataRequest(topics=None), 9) + framed(fetched(0, "evil", MB), 11)
    socks = connected(address, int(200 * scale))
    for sock in socks:
        sock.setblocking(False)
        with suppress(BlockingIOError):
            while sock.send(poll * 50):
                pass
    time.sleep(HOLD_S * scale)


def churn(address: Address, scale: float) -> None:
    for number in range(int(3000 * scale)):
        with socket.create_connection(address, TIMEOUT_S) as sock:
            if number % 2:
                sock.sendall(HELLO)


def descriptors(address: Address, scale: float) -> None:
    """Many more connections than the broker has descriptors for."""
    socks = []
    for _ in range(int(2000 * scale)):
        sock = socket.socket()
        sock.setblocking(False)
        sock.connect_ex(address)
        socks.append(sock)
    time.sleep(HOLD_S)


class Attack(NamedTuple):
    """`prepare` creates the topics that it needs; `limit` is the number of descriptors that the
    broker may have."""

    run: Callable[[Address, float], None]
    options: tuple[str, ...] = ()
    prepare: Callable[[Client, float], None] = lambda client, scale: create(client, "evil")
    limit: int = 0


LARGE = ("-c", f"message.max.bytes={20 * MB}")

ATTACKS = {
    "wide Metadata": Attack(wide_metadata, prepare=wide_topics),
    "unknown names": Attack(unknown_names),
    "wide Fetch": Attack(wide_fetch, prepare=wide_topics),
    "wide ListOffsets": Attack(wide_list_offsets, prepare=wide_topics),
    "joins": Attack(joins, prepare=coordinator),
    **{f"{codec} bombs": Attack(bombs(codec), LARGE) for codec in CODECS},
    "slow connections": Attack(slow_connections),
    "waiting fetches": Attack(waiting_fetches),
    "half frames": Attack(half_frames),
    "unread answers": Attack(unread_answers),
    "churn": Attack(churn),
    "descriptors": Attack(descriptors, limit=300),
}


@contextmanager
def under_attack(broker: Broker, name: str, scale: float) -> Iterator[subprocess.Popen[str]]:
    """Runs an attack in its own process, from its start to its end."""
    host, port = broker.address
    command = [sys.executable, "-m", __name__, name, host, str(port), str(scale)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        yield process
        _, text = process.communicate(timeout=2 * TIMEOUT_S)
    assert process.returncode == 0, text


if __name__ == "__main__":
    name, host, port, scale = sys.argv[1:]
    ATTACKS[name].run((host, int(port)), float(scale))
