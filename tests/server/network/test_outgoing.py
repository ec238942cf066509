"""Sending from memory or from a file: bytes arrive in order and complete, whether the peer reads
them at once or late; a peer that does not read is reported."""

from __future__ import annotations

import asyncio
import errno
import os
import random
import socket
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.server.log.files.real_file import RealFile
from kafkadouble.server.network import outgoing
from kafkadouble.server.network.outgoing import DIRECT, MUCH, Outgoing
from kafkadouble.wire.file_slice import FileSlice

LARGE = 3 << 20

pytestmark = pytest.mark.skipif(not DIRECT, reason="asyncio sends where a loop cannot watch sockets for us")


class RecordingProtocol(asyncio.Protocol):
    """The peer's end of the connection."""

    def __init__(self) -> None:
        self.slow_with: list[int] = []
        self.moves, self.is_drained, self.problem = 0, asyncio.Event(), asyncio.Event()

    def slow(self, unsent: int) -> None:
        self.slow_with.append(unsent)

    def moved(self) -> None:
        self.moves += 1

    def drained(self) -> None:
        self.is_drained.set()

    def broken(self, problem: OSError) -> None:
        self.problem.set()


class Line:
    """One connection inside this process; `peer` reads when the test lets it."""

    def __init__(self, peer: socket.socket, transport: asyncio.Transport, protocol: RecordingProtocol) -> None:
        self.peer, self.transport, self.protocol = peer, transport, protocol
        self.outgoing = Outgoing(transport, protocol)

    async def read(self, size: int) -> bytes:
        found = bytearray()
        while len(found) < size and (more := await asyncio.get_running_loop().sock_recv(self.peer, size - len(found))):
            found += more
        return bytes(found)


async def opened() -> Line:
    ours, peer = socket.socketpair()
    peer.setblocking(False)
    protocol = RecordingProtocol()
    transport, _ = await asyncio.get_running_loop().create_connection(lambda: protocol, sock=ours)
    return Line(peer, transport, protocol)


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, 60))


async def closed(line: Line) -> None:
    line.outgoing.end()
    line.transport.abort()
    line.peer.close()
    await asyncio.sleep(0)


@contextmanager
def file_of(folder: Path, data: bytes) -> Iterator[RealFile]:
    file = RealDisk(str(folder)).open("file")
    file.append([data])
    yield file
    file.close()


def lent(file: RealFile, position: int, size: int) -> FileSlice:
    file_slice = file.slice(position, size)
    assert isinstance(file_slice, FileSlice)
    return file_slice


@pytest.mark.parametrize("seed", range(4))
def test_response_of_any_parts_arrives_in_order(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)

    async def test() -> None:
        data = rng.randbytes(LARGE)
        line = await opened()
        with file_of(tmp_path, data) as file:
            expected = bytearray()
            for _ in range(60):
                size, position = rng.choice([0, 1, 100, 5000, 200_000, 700_000]), rng.randrange(LARGE - 700_000)
                part = data[position : position + size]
                kinds = [part, bytearray(part), memoryview(part), file.slice(position, size)]
                line.outgoing.send([part[:7], rng.choice(kinds), part[:3]])
                expected += part[:7] + part + part[:3]
                if rng.random() < 0.3:
                    begun = len(expected) - line.outgoing.unsent
                    got = await line.read(rng.randint(0, min(begun, 300_000)))
                    assert got == expected[: len(got)]
                    del expected[: len(got)]
            assert await line.read(len(expected)) == expected
            assert line.outgoing.unsent == 0
        await closed(line)

    run(test())


def test_a_slow_reader_is_reported_and_so_is_its_end() -> None:
    async def test() -> None:
        line = await opened()
        line.outgoing.send([b"a" * 10])
        assert not line.protocol.slow_with
        line.outgoing.send([bytes(LARGE)])
        line.outgoing.send([b"z"])
        first, second = line.protocol.slow_with
        assert MUCH < first < LARGE
        assert second == first + 1 == line.outgoing.unsent
        assert not line.protocol.is_drained.is_set()
        assert (await line.read(LARGE + 11)).endswith(b"\0z")
        await line.protocol.is_drained.wait()
        assert line.protocol.moves > 0
        await closed(line)

    run(test())


def test_file_slice_stays_valid_when_the_file_is_truncated(tmp_path: Path) -> None:
    """Nothing of the first has been sent yet, and a part of the second."""

    async def test() -> None:
        data = random.Random(1).randbytes(LARGE)
        line = await opened()
        with file_of(tmp_path, data) as file:
            line.outgoing.send([lent(file, 0, LARGE), b"between", lent(file, LARGE - 100_000, 100_000)])
            gone = LARGE + 100_007 - line.outgoing.unsent
            assert 0 < gone < LARGE
            file.truncate(gone)
            file.append([b"other"])
        assert await line.read(LARGE + 100_007) == data + b"between" + data[-100_000:]
        await closed(line)

    run(test())


def test_a_file_truncated_from_outside_ends_the_connection(tmp_path: Path) -> None:
    """Otherwise the client would get other bytes than were promised, or wait for ever."""

    async def test() -> None:
        line = await opened()
        with file_of(tmp_path, bytes(LARGE)) as file:
            file_slice = lent(file, 0, LARGE)
            os.truncate(tmp_path / "file", 1000)
            line.outgoing.send([file_slice])
            await line.protocol.problem.wait()
            assert line.outgoing.unsent == 0
        await closed(line)

    run(test())


def test_a_file_that_the_system_cannot_send_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unable(*_: int) -> int:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "sendfile", unable)

    async def test() -> None:
        line = await opened()
        with file_of(tmp_path, b"f" * LARGE) as file:
            line.outgoing.send([b"a", lent(file, 0, LARGE), b"z"])
            assert await line.read(LARGE + 2) == b"a" + b"f" * LARGE + b"z"
        await closed(line)

    run(test())


def test_a_peer_that_has_left_breaks_it() -> None:
    async def test() -> None:
        line = await opened()
        line.peer.close()
        line.outgoing.send([b"a"])
        await line.protocol.problem.wait()
        line.outgoing.send([b"still accepted"])
        assert line.outgoing.unsent == 0
        await closed(line)

    run(test())


def test_connection_that_is_read_fast_lets_others_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outgoing, "TURN", 1000)

    async def test() -> None:
        line = await opened()
        line.outgoing.send([b"a"] * 1500 + [bytes(50_000)])
        assert line.outgoing.unsent > 0
        assert len(await line.read(51_500)) == 51_500
        await line.protocol.is_drained.wait()
        await closed(line)

    run(test())


def test_loop_without_writers_sends_through_asyncio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outgoing, "DIRECT", False)

    async def test() -> None:
        line = await opened()
        with file_of(tmp_path, b"f" * LARGE) as file:
            line.outgoing.send([b"a", lent(file, 1, LARGE - 1), memoryview(b"z")])
            assert line.outgoing.unsent > 0
            assert await line.read(LARGE + 1) == b"a" + b"f" * (LARGE - 1) + b"z"
        await closed(line)

    run(test())
