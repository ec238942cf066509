"""The client instances of a broker (KIP-714): when they may ask and push, how long they are known,
and what they subscribe to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from kafkadouble.messages.generated.push_telemetry import PushTelemetryRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.broker import client_metrics_manager
from kafkadouble.server.broker.client_metrics_instance import subscription_id
from kafkadouble.server.broker.client_metrics_subscriptions import ClientMetricsSubscription, compiled
from tests.server.harness import Harness
from tests.server.telemetry import subscribe

ID = Uuid(bytes(range(16)))
MINUTE = 60_000


def ask(cluster: Harness, id: Uuid = Uuid.ZERO) -> GetTelemetrySubscriptionsResponse:
    response = cluster.submit(GetTelemetrySubscriptionsRequest(client_instance_id=id), 0)
    assert isinstance(response, GetTelemetrySubscriptionsResponse)
    return response


def push(cluster: Harness, id: Uuid, subscription: int, **fields: Any) -> int:
    request = PushTelemetryRequest(client_instance_id=id, subscription_id=subscription, **fields)
    return int(cluster.submit(request, 0).error_code)


@pytest.fixture
def cluster() -> Harness:
    return Harness()


@pytest.mark.parametrize(("metrics", "interval_ms", "expected"), [([], 300_000, -725132322), (["*"], 100, 899611809)])
def test_the_subscription_id_is_the_checksum_of_javas_text(metrics: list[str], interval_ms: int, expected: int) -> None:
    """The numbers were computed from the definitions of CRC-32C and `Uuid.hashCode`."""
    assert subscription_id(metrics, interval_ms, ID) == expected


def test_ids_are_random_and_repeatable() -> None:
    first, again, other = ask(Harness()), ask(Harness()), ask(Harness(seed=5))
    assert first.client_instance_id == again.client_instance_id != other.client_instance_id
    assert first.client_instance_id != Uuid.ZERO


def test_a_client_may_bring_an_id_of_another_broker(cluster: Harness) -> None:
    assert ask(cluster, ID).client_instance_id == ID
    assert push(Harness(), ID, ask(Harness(), ID).subscription_id) == codes.NONE


def test_a_push_that_the_interval_delays_may_come_after_it(cluster: Harness) -> None:
    subscribe(cluster, "all", {"metrics": "*", "interval.ms": "1000"})
    response = ask(cluster, ID)
    assert push(cluster, ID, response.subscription_id) == codes.NONE
    cluster.tick(999)
    assert push(cluster, ID, response.subscription_id) == codes.THROTTLING_QUOTA_EXCEEDED
    assert ask(cluster, ID).error_code == codes.THROTTLING_QUOTA_EXCEEDED
    cluster.tick(1)
    assert push(cluster, ID, response.subscription_id) == codes.NONE


@pytest.mark.parametrize("id", [Uuid.ZERO, Uuid.METADATA_TOPIC_ID])
def test_reserved_ids_may_not_push(cluster: Harness, id: Uuid) -> None:
    assert push(cluster, id, 0) == codes.INVALID_REQUEST


@pytest.mark.parametrize("compression", [-1, 5, 127, -128])
def test_an_unknown_compression_lets_the_client_ask_at_once(cluster: Harness, compression: int) -> None:
    response = ask(cluster, ID)
    code = push(cluster, ID, response.subscription_id, compression_type=compression)
    assert code == codes.UNSUPPORTED_COMPRESSION_TYPE
    assert ask(cluster, ID).error_code == codes.NONE
    assert ask(cluster, ID).error_code == codes.THROTTLING_QUOTA_EXCEEDED, "the error is forgotten"


def test_an_instance_is_forgotten_after_three_intervals(cluster: Harness) -> None:
    ask(cluster, ID)
    cluster.tick(15 * MINUTE - 1)
    assert len(cluster.node.client_metrics) == 1
    cluster.tick(1)
    assert len(cluster.node.client_metrics) == 0


def test_a_short_interval_still_keeps_it_for_a_minute(cluster: Harness) -> None:
    subscribe(cluster, "all", {"metrics": "*", "interval.ms": "100"})
    ask(cluster, ID)
    cluster.tick(MINUTE - 1)
    assert len(cluster.node.client_metrics) == 1
    ask(cluster, ID)
    cluster.tick(MINUTE - 1)
    assert len(cluster.node.client_metrics) == 1, "it was used meanwhile"
    cluster.tick(1)
    assert len(cluster.node.client_metrics) == 0


def test_an_instance_is_forgotten_with_its_connection(cluster: Harness) -> None:
    """And only the one that was made last over it, as in Kafka."""
    ask(cluster)
    ask(cluster, ID)
    (on_disconnect,) = cluster.peer.on_disconnect
    on_disconnect(cluster.peer.id)
    assert len(cluster.node.client_metrics) == 1
    assert ask(cluster, ID).error_code == codes.NONE, "it is a new one"


def test_the_oldest_instances_make_room(cluster: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_metrics_manager, "MAX_INSTANCES", 3)
    first = ask(cluster, ID)
    for _ in range(2):
        ask(cluster)
    assert push(cluster, ID, first.subscription_id) == codes.NONE
    for _ in range(2):
        ask(cluster)
    assert len(cluster.node.client_metrics) == 3
    assert ask(cluster, ID).error_code == codes.THROTTLING_QUOTA_EXCEEDED, "it was used since: it stays"
    for _ in range(100):
        ask(cluster)
    assert len(cluster.node.client_metrics) == 3
    assert ask(cluster, ID).error_code == codes.NONE, "it is a new one"


ATTRIBUTES = {"client_id": "shop-1", "client_software_name": "apache-kafka-java", "client_source_port": "40001"}


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ({}, True),
        ({"client_id": "shop-[0-9]"}, True),
        ({"client_id": "shop"}, False),
        ({"client_id": "shop.*", "client_source_port": "4.*"}, True),
        ({"client_id": "shop.*", "client_source_port": "5.*"}, False),
        ({"client_id": r"(shop)-1|\1"}, False),
        ({"client_id": "(s+)+$"}, False),
    ],
)
def test_all_patterns_match_whole_attributes(patterns: Mapping[str, str], expected: bool) -> None:
    subscription = ClientMetricsSubscription([], 100, {name: compiled(text) for name, text in patterns.items()})
    assert subscription.matches(ATTRIBUTES) is expected


def test_a_change_of_any_subscription_renews_every_instance(cluster: Harness) -> None:
    subscribe(cluster, "all", {"metrics": "*", "interval.ms": "1000"})
    ask(cluster, ID)
    assert ask(cluster, ID).error_code == codes.THROTTLING_QUOTA_EXCEEDED
    subscribe(cluster, "other", {"metrics": "a", "match": "client_id=no one"})
    assert ask(cluster, ID).error_code == codes.NONE, "subscriptions have changed"
    assert ask(cluster, ID).error_code == codes.THROTTLING_QUOTA_EXCEEDED
