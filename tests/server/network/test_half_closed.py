"""A client that closes its sending side gets the answers to what it has sent, as from Apache Kafka,
and the connection ends after them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.server.faults.rule import Rule
from kafkadouble.server.network import connection_protocol
from tests.server.network.served_listener import HELLO, connected, history_of, run, serving
from tests.server.topic_requests import fetching


def fetch(max_wait_ms: int) -> FetchRequest:
    return fetching("t", max_wait_ms=max_wait_ms)


def test_a_fetch_that_waits_is_answered_and_so_is_what_was_sent_behind_it() -> None:
    async def test() -> None:
        async with serving() as listener, connected(listener) as client:
            listener.node.faults.arm(Rule.of(action="delay", api="Fetch", seconds=0.05))
            client.send(fetch(0), 12)
            client.send(HELLO, 3)
            client.writer.write_eof()
            assert (await client.receive(ApiKeys.FETCH, 12)).error_code == 0
            assert (await client.receive(ApiKeys.API_VERSIONS, 3)).error_code == 0
            assert await client.ended()
            assert [seen.outcome for seen in history_of(listener.node)] == ["answered"] * 2

    run(test)


def test_response_to_a_half_closed_connection_is_sent_whole() -> None:
    async def test() -> None:
        async with serving() as listener, connected(listener) as client:
            await client.hello()
            rule = Rule.of(action="slow_frame", api="ApiVersions", bytes_per_second=20_000)
            listener.node.faults.arm(rule)
            client.send(HELLO, 3)
            client.writer.write_eof()
            assert (await client.receive(ApiKeys.API_VERSIONS, 3)).error_code == 0
            assert await client.ended()

    run(test)


@pytest.mark.parametrize("action", ["latency", "bandwidth"])
def test_rules_of_connections_delay_the_answer_and_the_end(action: str) -> None:
    fields: dict[str, dict[str, Any]] = {"latency": {"seconds": 0.05}, "bandwidth": {"bytes_per_second": 10_000}}

    async def test() -> None:
        async with serving() as listener, connected(listener) as client:
            listener.node.faults.arm(Rule.of(action=action, **fields[action]))
            client.send(fetch(50), 12)
            client.writer.write_eof()
            assert (await client.receive(ApiKeys.FETCH, 12)).error_code == 0
            assert await client.ended()

    run(test)


def test_a_client_that_has_left_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_protocol, "OWED_S", 0.05)

    async def test() -> None:
        async with serving() as listener, connected(listener) as client:
            listener.node.faults.arm(Rule.of(action="delay", api="Fetch", seconds=3600))
            client.send(fetch(0), 12)
            client.writer.write_eof()
            assert await client.ended()
            while listener.connections:
                await asyncio.sleep(0)
            assert [seen.outcome for seen in history_of(listener.node)] == ["abandoned"]

    run(test)


def test_a_client_with_nothing_under_way_is_closed_at_once() -> None:
    async def test() -> None:
        async with serving() as listener, connected(listener) as client:
            await client.hello()
            client.writer.write(b"\0\0")  # half of a size
            client.writer.write_eof()
            assert await client.ended()

    run(test)
