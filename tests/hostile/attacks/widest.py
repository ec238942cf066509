"""The widest frames of one API, on ten connections at once, with state behind them."""

from __future__ import annotations

import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress

from benchmarks import widest
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.offset_commit import OffsetCommitRequest
from kafkadouble.server.apis.row import ServedApi

from ..sockets import MB, Client
from .classic_groups import coordinator
from .exchanges import HELLO, OPENED, Address
from .topics import create_again

TOPICS, PARTITIONS, GROUPS = 5000, 9800, 500
SENDERS = 10
CORRELATION_ID = slice(8, 12)
PATIENCE_S = 2
"""How long an answer may be silent: some frames are long polls."""


def state(client: Client, scale: float) -> None:
    """A topic of many partitions, many topics with committed offsets, and many groups."""
    coordinator(client, scale)
    create_again(client, widest.WIDE, int(PARTITIONS * scale))
    for some in _hundreds(int(TOPICS * scale)):
        of = CreateTopicsRequest.CreatableTopic
        topics = [of(name=f"n{number}", num_partitions=1, replication_factor=1) for number in some]
        client.ask(CreateTopicsRequest(topics=topics, timeout_ms=1000), 7)
        _commit(client, widest.WIDE, some)
    for number in range(int(GROUPS * scale)):
        _commit(client, f"n{number}", range(1))


def _hundreds(count: int) -> Iterator[range]:
    return (range(start, min(start + 100, count)) for start in range(0, count, 100))


def _commit(client: Client, group: str, topics: range) -> None:
    of = OffsetCommitRequest
    partition = of.OffsetCommitRequestPartition(committed_offset=1)
    committed = [of.OffsetCommitRequestTopic(name=f"n{number}", partitions=[partition]) for number in topics]
    client.ask(of(group_id=group, generation_id_or_member_epoch=-1, topics=committed), 8)


def frames_of(served: ServedApi, scale: float) -> Iterator[bytes]:
    most = int(widest.MOST * scale)
    return (frame for _, frame in widest.frames(served.request, served.highest, most))


def widest_of(served: ServedApi) -> Callable[[Address, float], None]:
    """Sends every widest frame of an API, and each of ten connections as many as the others."""

    def attack(address: Address, scale: float) -> None:
        frames = deque(frames_of(served, scale))
        while len(frames) % SENDERS:
            frames += list(frames)[: SENDERS - len(frames) % SENDERS]
        senders = [threading.Thread(target=_send, args=(address, frames)) for _ in range(SENDERS)]
        for sender in senders:
            sender.start()
        for each in senders:
            each.join()

    return attack


def _send(address: Address, frames: deque[bytes]) -> None:
    """Sends frames until none is left. A connection that the server closes is replaced."""
    sock: socket.socket | None = None
    while frames:
        with suppress(IndexError):
            frame = frames.popleft()
            if sock is None:
                sock = socket.create_connection(address, PATIENCE_S)
                OPENED.append(sock)
            if not _is_answered(sock, frame):
                sock.close()
                sock = None


def _is_answered(sock: socket.socket, frame: bytes) -> bool:
    """Whether the connection is open when the frame is done. Some frames, such as a Produce without
    acks, have no answer; a small request behind it has."""
    with suppress(OSError):
        sock.sendall(frame + HELLO)
        while size := int.from_bytes(sock.recv(4, socket.MSG_WAITALL)):
            if _skimmed(sock, size) == HELLO[CORRELATION_ID]:
                return True
    return False


def _skimmed(sock: socket.socket, left: int) -> bytes:
    """Reads an answer, and returns its correlation id."""
    first = sock.recv(4, socket.MSG_WAITALL)
    left -= len(first)
    while left and (more := len(sock.recv(min(left, MB)))):
        left -= more
    return first
