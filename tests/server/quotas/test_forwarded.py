"""Quotas in a cluster: what a broker forwards is throttled by the controller, and the client's
connection at the broker is muted; what brokers send one another is exempt."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_client_quotas import AlterClientQuotasRequest
from tests.kips.replicas import TOPIC, Replicas
from tests.server.forwarded import ask_as
from tests.server.machine import produce_request

from .quota_requests import create

LEADER, FOLLOWER = 11, 12


@pytest.fixture
def replicas() -> Replicas:
    return Replicas()


def set_quota(replicas: Replicas, **quotas: float) -> None:
    """Sets quotas of the user of every client, and waits until every node has them."""
    of = AlterClientQuotasRequest
    entry = of.EntryData(
        entity=[of.EntityData(entity_type="user", entity_name="ANONYMOUS")],
        ops=[of.OpData(key=key, value=value) for key, value in quotas.items()],
    )
    answer = replicas.cluster.ask(replicas.cluster.leader, of(entries=[entry]), 1)
    assert answer.entries[0].error_code == 0
    replicas.until(lambda: all(node.quotas.is_on for node in replicas.cluster.nodes.values()))


def ask(replicas: Replicas, broker: int, body: Any, version: int) -> Any:
    return replicas.cluster.ask(replicas.cluster.nodes[broker], body, version)


def test_a_forwarded_request_is_throttled_by_the_controller_and_muted_at_the_broker(replicas: Replicas) -> None:
    set_quota(replicas, controller_mutation_rate=1)
    assert replicas.cluster.leader.id not in (LEADER, FOLLOWER)
    answer = ask(replicas, LEADER, create("a", "b", partitions=20), 7)
    assert 0 < replicas.cluster.muted_ms == answer.throttle_time_ms <= 9_000
    codes = [topic.error_code for topic in answer.topics]
    assert codes == [error_codes.NONE, error_codes.THROTTLING_QUOTA_EXCEEDED]


def test_the_quota_is_that_of_the_user_in_the_envelope(replicas: Replicas) -> None:
    set_quota(replicas, controller_mutation_rate=1)
    for name in ("a", "b"):
        made = ask_as(replicas.cluster, create(name, partitions=20), 7, "User:alice")
        assert (made.topics[0].error_code, made.throttle_time_ms) == (0, 0)
    assert ask_as(replicas.cluster, create("c", partitions=20), 7, "User:ANONYMOUS").topics[0].error_code == 0
    refused = ask_as(replicas.cluster, create("d"), 7, "User:ANONYMOUS")
    assert refused.topics[0].error_code == error_codes.THROTTLING_QUOTA_EXCEEDED
    assert refused.throttle_time_ms > 0


def test_followers_fetch_whatever_the_quota_is(replicas: Replicas) -> None:
    set_quota(replicas, consumer_byte_rate=1, request_percentage=0.0001)
    for value in (b"x" * 1000, b"y" * 1000):
        answer = ask(replicas, LEADER, produce_request(TOPIC, value, acks=-1, timeout_ms=5000), 10)
        assert answer.responses[0].partition_responses[0].error_code == 0
    replicas.until(lambda: replicas.log(FOLLOWER).high_watermark == 2)


def test_a_producer_with_followers_is_throttled_when_it_is_answered(replicas: Replicas) -> None:
    set_quota(replicas, producer_byte_rate=100)
    answer = ask(replicas, LEADER, produce_request(TOPIC, b"x" * 20_000, acks=-1, timeout_ms=5000), 10)
    assert replicas.cluster.muted_ms == answer.throttle_time_ms > 10_000
