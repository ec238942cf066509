"""Connections that are kept, and those that are of no use any more."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.messages import headers
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.headers import RequestHead
from kafkadouble.pipeline.client import BadAnswer, ClientError, NotReachable, TopicPartition
from tests.support.pipeline_client import client_of, read

from .fake_broker import Answer, FakeBroker, metadata

T0 = TopicPartition("t", 0)


pytestmark = pytest.mark.usefixtures("ten")


def test_an_idle_connection_that_the_broker_has_closed_is_noticed(double: KafkaDouble) -> None:
    with client_of(double.bootstrap_servers) as client:
        assert client.offsets({T0: -1})
        double.disconnect("ListOffsets")
        assert client.offsets({T0: -1})
        assert len(read(client, T0, 0, 10)) == 10


def test_a_connection_that_idled_too_long_is_not_used(double: KafkaDouble) -> None:
    with client_of(double.bootstrap_servers, connections_max_idle_ms=0) as client:
        client.topics()
        client.topics()
    with client_of(double.bootstrap_servers, connections_max_idle_ms=-1) as client:
        client.topics()
        client.topics()
    assert len(double.requests.of("ApiVersions")) == 3


def test_reads_beside_one_another_have_connections_of_their_own(double: KafkaDouble) -> None:
    with client_of(double.bootstrap_servers) as client:
        readings = [client.read(T0, 0, 10, max_bytes=1) for _ in range(3)]
        for _ in range(10):
            assert len({next(reading).position for reading in readings}) == 1
        assert [next(reading, None) for reading in readings] == [None] * 3
        before = len(double.requests.of("ApiVersions"))
        assert len(read(client, T0, 0, 10)) == 10
        assert len(double.requests.of("ApiVersions")) == before


def test_after_an_answer_that_is_none_another_connection_is_made() -> None:
    """What else comes over the old one would be taken for the answer to the next question."""

    def other(body: Any, head: RequestHead) -> Answer:
        parts = headers.write_response(metadata(broker.port), head.correlation_id + 1, head.api_key, head.api_version)
        return b"".join(parts)

    with (
        FakeBroker({ApiKeys.FETCH: lambda body, head: b"\0\0\0\x08" + bytes(8)}) as broker,
        client_of(broker.bootstrap) as client,
    ):
        with pytest.raises(BadAnswer):
            read(client, T0, 0, 1)
        assert client.topics() == ["t"]
        broker.handlers[ApiKeys.METADATA] = other
        with pytest.raises(BadAnswer, match=r"its answer to Metadata has the correlation id (\d+) instead of \d+"):
            client.topics()
        broker.handlers[ApiKeys.METADATA] = lambda body, head: metadata(broker.port)
        assert client.topics() == ["t"]
    connections = [head.correlation_id for head, _ in broker.seen].count(0)
    assert connections == 3


def test_an_unknown_broker_is_reported_after_a_while() -> None:
    with FakeBroker({}) as gone:
        pass
    client = client_of(gone.bootstrap, default_api_timeout_ms=50)
    with (
        client,
        pytest.raises(NotReachable, match=rf"topics: not within 50 ms .*: broker {gone.bootstrap} cannot be reached"),
    ):
        client.topics()


def test_a_host_that_does_not_exist_is_reported_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*asked: object, **options: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    client = client_of("nowhere:9092,elsewhere:9092")
    message = (
        "broker nowhere:9092: there is no host 'nowhere': .*; broker elsewhere:9092: .*; look at bootstrap.servers"
    )
    with client, pytest.raises(NotReachable, match=message):
        client.topics()


def test_every_address_of_a_host_is_tried(monkeypatch: pytest.MonkeyPatch, double: KafkaDouble) -> None:
    with FakeBroker({}) as gone:
        pass
    known = socket.getaddrinfo

    def both(host: str, port: int, **options: Any) -> list[Any]:
        if host != "both":
            return known(host, port, **options)
        return [*known("127.0.0.1", gone.port, **options), *known("127.0.0.1", port, **options)]

    monkeypatch.setattr(socket, "getaddrinfo", both)
    with client_of(f"both:{double.port}") as client:
        assert client.topics() == ["t"]


def test_a_closed_client_sends_no_request(double: KafkaDouble) -> None:
    client = client_of(double.bootstrap_servers)
    client.topics()
    client.close()
    with pytest.raises(ClientError, match="the client is closed"):
        client.topics()
