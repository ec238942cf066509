"""The listener around a node, over real sockets: connections open and close, time passes, and it
shuts down cleanly."""

from __future__ import annotations

import asyncio
import gc
import socket

import pytest

from kafkadouble.messages import headers
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.server.configs.listener_specs import listener_specs
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.faults.rule import Rule
from kafkadouble.server.network.clock import SteppedClock, SystemClock
from kafkadouble.server.network.connection import TURN
from kafkadouble.server.network.listener import Listener
from kafkadouble.server.network.shaped_connection import reset_on_close
from kafkadouble.server.node import Node
from kafkadouble.server.requests.listener_spec import ListenerSpec
from tests.server.harness import NOW, SEED
from tests.server.network.served_listener import HELLO, Client, connected, history_of, run, serving
from tests.support.listeners import listeners_of

NOTHING_THERE = FetchRequest(max_wait_ms=30_000, min_bytes=1, max_bytes=1000, topics=[
    FetchRequest.FetchTopic(topic="t", partitions=[FetchRequest.FetchPartition(partition_max_bytes=100)])
], session_epoch=-1)  # fmt: skip


def test_answers_in_order_and_forgets_closed_connections() -> None:
    async def test() -> None:
        async with serving() as listener:
            async with connected(listener) as client:
                for _ in range(50):
                    client.send(HELLO, 3)
                for _ in range(50):
                    assert (await client.receive(18, 3)).error_code == 0
                assert len(listener.connections) == 1
                assert "1 connections" in repr(listener)
            while listener.connections:
                await asyncio.sleep(0)

    run(test)


def test_bytes_that_are_no_request_end_the_connection_and_no_other() -> None:
    async def test() -> None:
        async with serving() as listener, connected(listener) as bad, connected(listener) as good:
            bad.writer.write(b"GET / HTTP/1.1\r\n\r\n")
            assert await bad.ended()
            good.send(HELLO, 3)
            assert (await good.receive(18, 3)).error_code == 0

    run(test)


def test_stop_closes_connections_that_never_leave() -> None:
    async def test() -> None:
        async with serving() as listener:
            _, writer = await asyncio.open_connection(*listener.node.advertised)
            writer.write(b"\0\0")
        writer.transport.abort()

    run(test)


@pytest.mark.parametrize("rounds", range(6))
def test_stop_right_after_a_connection_came(rounds: int) -> None:
    """The shutdown may come in any round of the loop, and no socket is left open: that would be a
    ResourceWarning here."""

    async def test() -> None:
        async with serving() as listener:
            clients = [socket.create_connection(listener.node.advertised) for _ in range(20)]
            for _ in range(rounds):
                await asyncio.sleep(0)
        for sock in clients:
            sock.close()

    run(test)
    gc.collect()


def test_a_timer_of_the_node_rings_by_itself() -> None:
    async def test() -> None:
        async with serving() as listener, connected(listener) as client:
            listener.node.faults.arm(Rule.of(action="delay", api="ApiVersions", seconds=0.05))
            before = asyncio.get_running_loop().time()
            client.send(HELLO, 3)
            assert (await client.receive(18, 3)).error_code == 0
            assert asyncio.get_running_loop().time() - before >= 0.04

    run(test)


def test_a_stopped_clock_is_advanced_by_hand() -> None:
    async def test() -> None:
        clock = SteppedClock(NOW)
        async with serving(clock) as listener, connected(listener) as client:
            rang: list[int] = []
            for after in (700, 100, 2000):
                listener.node.waiting.timers.at(NOW + after, rang.append)
            listener.node.waiting.timers.at(NOW + 100, lambda now: again(listener, rang))
            listener.node.faults.arm(Rule.of(action="delay", api="ApiVersions", seconds=60))
            client.send(HELLO, 3)
            while not listener.node.history:
                await asyncio.sleep(0)
            listener.advance(clock, 1000)
            assert rang == [NOW + 100, NOW + 400, NOW + 700]
            assert clock.now() == NOW + 1000
            listener.advance(clock, 59_000)
            assert (await client.receive(18, 3)).error_code == 0

    def again(listener: Listener, rang: list[int]) -> None:
        listener.node.waiting.timers.at(listener.node.now + 300, rang.append)

    run(test)


def test_a_waiting_request_ends_when_its_connection_is_reset() -> None:
    async def test() -> None:
        async with serving() as listener:
            async with connected(listener) as client:
                listener.node.faults.arm(Rule.of(action="delay", api="Fetch", seconds=3600))
                client.send(NOTHING_THERE, 12)
                while not listener.node.history:
                    await asyncio.sleep(0)
                reset_on_close(client.writer.get_extra_info("socket"))
                client.writer.transport.abort()
            (seen,) = listener.node.history
            while listener.connections:
                await asyncio.sleep(0)
            assert seen.outcome == "abandoned"

    run(test)


def test_a_client_that_does_not_read_makes_nothing_grow() -> None:
    """Answers wait in the socket's buffers; meanwhile no request is begun, and the bytes of
    requests stay with the client."""

    async def test() -> None:
        async with serving() as listener, connected(listener) as client:
            frame = b"".join(bytes(part) for part in headers.write_request(HELLO, 1, "test", 3))
            sent, transport = 0, client.writer.transport
            client.reader._transport.pause_reading()  # type: ignore[attr-defined]  # a client that sleeps
            while transport.get_write_buffer_size() < 1_000_000 and sent < 200_000:
                client.writer.writelines([frame] * 100)
                sent += 100
                await asyncio.sleep(0)
            answered = len(history_of(listener.node))
            assert answered < sent
            (protocol,) = listener.connections
            assert protocol.transport.get_write_buffer_size() < 1_000_000
            assert len(protocol.connection.backlog) < 10_000
            transport.abort()

    run(test)


def test_a_paused_node_begins_nothing_that_was_sent_ahead() -> None:
    async def test() -> None:
        async with serving() as listener, connected(listener) as client:
            frame = b"".join(bytes(part) for part in headers.write_request(HELLO, 1, "test", 3))
            client.writer.write(frame * 10 * TURN)
            while not history_of(listener.node):
                await asyncio.sleep(0)
            listener.pause(True)
            begun = len(history_of(listener.node))
            assert begun < 10 * TURN
            for _ in range(10 * TURN):
                await asyncio.sleep(0)
            assert len(history_of(listener.node)) == begun
            listener.pause(False)
            for _ in range(10 * TURN):
                assert (await client.receive(ApiKeys.API_VERSIONS, 3)).error_code == 0

    run(test)


def test_fetch_response_is_a_message() -> None:
    """The frames above name API 1 and 18 by number."""
    assert (FetchResponse.api_key, ApiVersionsRequest.api_key) == (1, 18)


def test_connections_beyond_a_limit_that_was_lowered_are_closed_the_least_recently_used_first() -> None:
    async def test() -> None:
        async with serving() as listener, connected(listener) as first, connected(listener) as second:
            for client in (first, second, first):
                client.send(HELLO, 3)
                await client.receive(ApiKeys.API_VERSIONS, 3)
            listener.node.settings = listener.node.settings.altered({"max.connections": "1"}, {})
            listener.reschedule()
            assert await second.ended()
            first.send(HELLO, 3)
            assert (await first.receive(ApiKeys.API_VERSIONS, 3)).error_code == 0

    run(test)


def test_a_listener_goes_by_its_own_name_in_the_settings() -> None:
    async def test() -> None:
        sock, controllers = (socket.create_server(("127.0.0.1", 0)) for _ in range(2))
        settings = Settings(
            {
                "listeners": "INSIDE://127.0.0.1:0,CTL://127.0.0.1:1",
                "controller.listener.names": "CTL",
                "listener.security.protocol.map": "INSIDE:PLAINTEXT,CTL:PLAINTEXT",
                "inter.broker.listener.name": "INSIDE",
                "listener.name.inside.max.connections": 7,
                "listener.name.ctl.max.connections": 8,
            }
        )
        node = Node(settings, listeners=listeners_of(settings, sock.getsockname()[:2]), now=NOW, seed=SEED)
        listener = Listener(node, SystemClock(), {"INSIDE": sock, "CTL": controllers})
        await listener.start()
        assert [acceptor.quotas.most for acceptor in listener._acceptors] == [7, 8]
        await listener.stop()

    run(test)


def two_listeners() -> tuple[Listener, list[ListenerSpec]]:
    """One of the brokers and one of clients, which have two connections together."""
    settings = Settings(
        {
            "listeners": "IN://:0,OUT://:0",
            "listener.security.protocol.map": "IN:PLAINTEXT,OUT:PLAINTEXT",
            "inter.broker.listener.name": "IN",
            "max.connections": 2,
        }
    )
    sockets = {name: socket.create_server(("127.0.0.1", 0)) for name in ("IN", "OUT")}
    listeners = [
        spec.bound_at(sockets[spec.name].getsockname()) if spec.bind else spec for spec in listener_specs(settings)
    ]
    node = Node(settings, listeners=listeners, now=NOW, seed=SEED)
    return Listener(node, SystemClock(), sockets), listeners


def test_at_the_limit_a_broker_comes_in_and_the_least_recently_used_client_goes() -> None:
    async def test() -> None:
        listener, specs = two_listeners()
        await listener.start()
        clients = [await client_at(specs[1]) for _ in range(2)]
        for client in clients:
            await client.hello()
        broker = await client_at(specs[0])
        await broker.hello()
        assert await clients[0].ended()
        await clients[1].hello()
        for each in (*clients, broker):
            each.writer.close()
        await listener.stop()

    run(test)


def test_below_the_limit_a_broker_comes_in_without_a_look_at_all_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    monkeypatch.setattr(Listener, "close_excess", lambda listener: looks.append(len(listener.connections)))

    async def test() -> None:
        listener, specs = two_listeners()
        await listener.start()
        clients = [await client_at(specs[0]) for _ in range(3)]
        for client in clients:
            await client.hello()
            client.writer.close()
        await listener.stop()

    run(test)
    assert looks == [3]


async def client_at(spec: ListenerSpec) -> Client:
    assert spec.advertised is not None
    return Client(*await asyncio.open_connection(*spec.advertised))
