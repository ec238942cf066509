"""Accepting connections over real sockets: limits, descriptors that run out, and the log lines
about both."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.network import acceptor, descriptors
from kafkadouble.server.network.acceptor import Acceptor
from kafkadouble.server.network.connection_quotas import ConnectionQuotas

Test = Callable[[], Coroutine[Any, Any, None]]


class Greeting(asyncio.Protocol):
    """Sends a greeting on each connection that is served."""

    def __init__(self, ended: Callable[[], None]) -> None:
        self._ended = ended

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(b"hello")

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended()


class Flaky(socket.socket):
    """A listening socket whose `accept` fails as many times as the test sets."""

    failures = 0
    calls = 0

    def accept(self) -> tuple[socket.socket, Any]:
        self.calls += 1
        if self.failures:
            self.failures -= 1
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


class Stage:
    """An acceptor whose settings, time (ms) and quota of an address the test may change."""

    def __init__(self, **settings: object) -> None:
        self.settings = Settings({name.replace("_", "."): value for name, value in settings.items()})
        self.sock = Flaky()
        self.sock.bind(("127.0.0.1", 0))
        self.now = 1_700_000_000_000
        self.address_limit: float | None = None
        self.quotas = ConnectionQuotas(
            "PLAINTEXT", lambda: self.settings, now=lambda: self.now, address_limit=lambda host: self.address_limit
        )
        self.acceptor = Acceptor(self.sock, Greeting, self.quotas)

    async def connect(self) -> Client:
        return Client(*await asyncio.open_connection(*self.sock.getsockname()))


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def is_served(self) -> bool:
        """Waits until the peer has sent something, or has closed."""
        return await self.reader.read(5) == b"hello"

    async def close(self) -> None:
        self.writer.close()
        await self.writer.wait_closed()


@asynccontextmanager
async def accepting(**settings: object) -> AsyncIterator[Stage]:
    stage = Stage(**settings)
    stage.acceptor.start()
    try:
        yield stage
    finally:
        await stage.acceptor.stop()
        stage.sock.close()
        # The closes of clients that have left are still on their way.
        while stage.quotas.total:
            await asyncio.sleep(0)


def run(test: Test) -> None:
    asyncio.run(asyncio.wait_for(test(), 20))


def test_connections_beyond_the_limit_wait_until_one_ends() -> None:
    async def test() -> None:
        async with accepting(max_connections=2) as stage:
            first, second = await stage.connect(), await stage.connect()
            assert await first.is_served()
            assert await second.is_served()
            waits = [await stage.connect() for _ in range(3)]
            waiting = [asyncio.ensure_future(wait.is_served()) for wait in waits]
            done, _ = await asyncio.wait(waiting, timeout=3 * acceptor.RETRY_S)
            assert not done
            await first.close()
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            assert [each.result() for each in done] == [True]
            assert stage.quotas.total == 2
            for each in (second, *waits):
                await each.close()
            await asyncio.gather(*waiting)

    run(test)


def test_raised_connection_limit_counts_at_once() -> None:
    async def test() -> None:
        async with accepting(max_connections=1) as stage:
            clients = [await stage.connect() for _ in range(2)]
            assert await clients[0].is_served()
            stage.settings = stage.settings.altered({"max.connections": "2"}, {})
            assert await clients[1].is_served()
            for client in clients:
                await client.close()

    run(test)


def test_connections_above_the_limit_per_address_are_closed_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        async with accepting(max_connections_per_ip=1) as stage:
            first, second = await stage.connect(), await stage.connect()
            assert sorted([await first.is_served(), await second.is_served()]) == [False, True]
            await first.close()
            await second.close()

    with caplog.at_level(logging.INFO, "kafkadouble.server"):
        run(test)
    assert "rejected a connection from 127.0.0.1, which has the 1 that one address may have" in caplog.text


def test_an_episode_without_descriptors_is_logged_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(acceptor, "RETRY_S", 0.01)

    async def test() -> None:
        async with accepting() as stage:
            stage.sock.failures = 5
            client = await stage.connect()
            assert await client.is_served()
            assert stage.sock.calls < 10
            await client.close()

    with caplog.at_level(logging.INFO, "kafkadouble.server"):
        run(test)
    (line,) = [record.getMessage() for record in caplog.records if record.name == "kafkadouble.server.network"]
    assert "Too many open files: no connection is accepted for now" in line


def test_acceptor_logs_that_descriptors_are_free_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(acceptor, "RETRY_S", 0.01)
    monkeypatch.setattr(acceptor, "CALM_S", 0)

    async def test() -> None:
        async with accepting() as stage:
            stage.sock.failures = 1
            client = await stage.connect()
            assert await client.is_served()
            while "again" not in caplog.text:
                await asyncio.sleep(0)
            await client.close()

    with caplog.at_level(logging.INFO, "kafkadouble.server"):
        run(test)


def test_the_last_descriptors_are_left_to_files(monkeypatch: pytest.MonkeyPatch) -> None:
    reserved = True
    monkeypatch.setattr(descriptors, "is_reserved", lambda descriptor: reserved)

    async def test() -> None:
        nonlocal reserved
        async with accepting() as stage:
            client = await stage.connect()
            waiting = asyncio.ensure_future(client.is_served())
            done, _ = await asyncio.wait([waiting], timeout=3 * acceptor.RETRY_S)
            assert not done
            reserved = False
            assert await waiting
            await client.close()

    run(test)


def test_loop_without_readers_accepts_connections_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async def accept(sock: socket.socket) -> tuple[socket.socket, Any]:
        while True:
            try:
                return sock.accept()
            except BlockingIOError:
                await asyncio.sleep(0)

    def none(sock: socket.socket, *args: Any) -> None:
        raise NotImplementedError

    async def test() -> None:
        loop = asyncio.get_running_loop()
        stage = Stage()
        with monkeypatch.context() as patch:
            patch.setattr(loop, "add_reader", none)
            patch.setattr(loop, "sock_accept", accept)
            stage.acceptor.start()
        stage.sock.failures = 2
        client = await stage.connect()
        assert await client.is_served()
        await client.close()
        while stage.quotas.total:
            await asyncio.sleep(0)
        await stage.acceptor.stop()
        stage.sock.close()

    run(test)


def test_reserved_descriptors_are_the_last_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    for most, first in ((1024, 960), (100, 75)):
        monkeypatch.setattr(descriptors, "most", lambda most=most: most)
        assert [descriptors.is_reserved(each) for each in (first - 1, first)] == [False, True]
    monkeypatch.setattr(descriptors, "most", lambda: None)
    assert not descriptors.is_reserved(10**9)


def test_connections_beyond_the_rate_are_accepted_later() -> None:
    async def test() -> None:
        async with accepting(max_connection_creation_rate=1, quota_window_num=2) as stage:
            first, second = await stage.connect(), await stage.connect()
            assert await first.is_served()
            waiting = asyncio.ensure_future(second.is_served())
            done, _ = await asyncio.wait([waiting], timeout=3 * acceptor.RETRY_S)
            assert not done
            stage.now += 1000
            assert await waiting
            await first.close()
            await second.close()

    run(test)


def test_a_connection_from_an_address_beyond_its_quota_is_closed_after_its_throttle_time() -> None:
    async def test() -> None:
        async with accepting(quota_window_num=2) as stage:
            stage.address_limit = 1
            first, second = await stage.connect(), await stage.connect()
            assert await first.is_served()
            loop = asyncio.get_running_loop()
            began = loop.time()
            assert not await second.is_served()
            assert loop.time() - began >= 0.9, "the throttle time is one window"
            assert stage.quotas.total == 1
            await first.close()
            await second.close()

    run(test)
