"""A connection that a quota throttles: its answer comes at once, and its next request waits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.messages import headers
from tests.front.hello import connect, received, says_hello
from tests.server.quotas.quota_requests import produce


@pytest.fixture
def kafka() -> Iterator[KafkaDouble]:
    with KafkaDouble(stepped=True, seed=1) as kafka:
        kafka.create_topic("t")
        kafka.set_quota(client_id="slow", producer_byte_rate=1000)
        yield kafka


@pytest.mark.parametrize("acks", [0, 1])
def test_the_next_request_is_begun_when_the_throttle_time_is_over(kafka: KafkaDouble, acks: int) -> None:
    with connect(kafka) as sock:
        sock.sendall(b"".join(bytes(part) for part in headers.write_request(produce(20_000, acks=acks), 7, "slow", 9)))
        if acks:
            size = int.from_bytes(received(sock, 4), "big")
            response: Any = headers.read_response(received(sock, size), 0, 9)[1]
            assert 10_000 < response.throttle_time_ms < 11_000
        kafka.wait_for_records("t", 1, timeout=10)
        sock.settimeout(0.2)
        with pytest.raises(TimeoutError):
            says_hello(sock)
        with connect(kafka) as other:
            assert says_hello(other), "other connections go on"
        sock.settimeout(10)
        kafka.advance(11)
        assert len(received(sock, 4)) == 4


def test_the_owner_of_the_double_is_not_a_client(kafka: KafkaDouble) -> None:
    kafka.set_quota(user="<default>", producer_byte_rate=1, consumer_byte_rate=1, request_percentage=0.01)
    kafka.produce("t", "x" * 10_000)
    assert len(kafka.records("t")) == 1
