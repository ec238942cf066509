"""Metrics of clients (KIP-714): what a real client pushes arrives as values; what is wrong is
refused, and takes no memory."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.messages.generated.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from kafkadouble.messages.generated.push_telemetry import PushTelemetryRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.seen import telemetry
from kafkadouble.seen.telemetry import TelemetryCollector, TelemetryValue
from kafkadouble.verbs.forms.json_form import to_json
from kafkadouble.wire.compression import CODECS, compress
from tests.server.harness import Harness
from tests.server.telemetry import metrics_data, subscribe
from tests.support.client import ask
from tests.support.serving import run, serving

metrics_pb2: Any = pytest.importorskip("opentelemetry.proto.metrics.v1.metrics_pb2")

ID = Uuid(bytes(range(16)))
NANOS = 1_000_000


@pytest.fixture
def cluster() -> Harness:
    cluster = Harness({"telemetry.max.bytes": 100_000})
    cluster.node.telemetry = TelemetryCollector()
    subscribe(cluster, "all", {"metrics": "*", "interval.ms": "100"})
    return cluster


def collected(cluster: Harness) -> list[TelemetryValue]:
    collector = cluster.node.telemetry
    assert isinstance(collector, TelemetryCollector)
    return collector.values()


def push(cluster: Harness, metrics: bytes, codec: int = 0) -> int:
    cluster.tick(100)
    response = cluster.submit(GetTelemetrySubscriptionsRequest(client_instance_id=ID), 0)
    request = PushTelemetryRequest(
        client_instance_id=ID, subscription_id=response.subscription_id, compression_type=codec, metrics=metrics
    )
    code = cluster.submit(request, 0, client_id="shop").error_code
    cluster.tick(100)
    return int(code)


def gauge(name: str, *values: float, time_ms: int = 0) -> Any:
    metric = metrics_pb2.Metric(name=name)
    for value in values:
        metric.gauge.data_points.add(as_double=value, time_unix_nano=time_ms * NANOS)
    return metric


def test_a_real_client_pushes_its_metrics() -> None:
    confluent_kafka = pytest.importorskip("confluent_kafka")
    with KafkaDouble(telemetry=True) as kafka:
        kafka.set_client_metrics("all", {"metrics": "*", "interval.ms": 100, "match": "client_id=shop"})
        producers = [
            confluent_kafka.Producer({"bootstrap.servers": kafka.bootstrap_servers, "client.id": name})
            for name in ("shop", "other")
        ]
        for producer in producers:
            producer.produce("orders", b"two pears")
            producer.flush(30)
        # The second is sent when the first was answered.
        kafka.wait_for_request("PushTelemetry", 2, client_id="shop", timeout=30)
        del producer, producers  # each pushes for the last time when it is destroyed
    values = kafka.telemetry
    assert {value.client_id for value in values} == {"shop"}
    assert "org.apache.kafka.producer.connection.creation.total" in {value.name for value in values}


@pytest.mark.parametrize("codec", sorted(CODECS))
def test_every_codec_is_read(cluster: Harness, codec: int) -> None:
    data = metrics_data(gauge("a", 1.5, time_ms=7), client_rack="r1")
    assert push(cluster, compress(codec, data), codec) == codes.NONE
    assert collected(cluster) == [TelemetryValue(str(ID), "shop", "a", {"client_rack": "r1"}, 1.5, 7)]


def test_every_kind_of_metric_is_values(cluster: Harness) -> None:
    total = metrics_pb2.Metric(name="total")
    point = total.sum.data_points.add(as_int=3)
    point.attributes.add(key="node.id").value.int_value = 1
    point.attributes.add(key="deep").value.array_value.values.add().kvlist_value.values.add(key="k")
    histogram = metrics_pb2.Metric(name="latency")
    histogram.histogram.data_points.add(count=2, sum=9.5)
    nothing = metrics_pb2.Metric(name="nothing")
    nothing.gauge.data_points.add()
    received = cluster.now + 100
    assert push(cluster, metrics_data(total, histogram, nothing, metrics_pb2.Metric(name="empty"))) == codes.NONE
    assert [(value.name, value.value, value.time_ms) for value in collected(cluster)] == [
        ("total", 3, received),
        ("latency.count", 2, received),
        ("latency.sum", 9.5, received),
    ]
    assert collected(cluster)[0].attributes == {"node.id": 1, "deep": [{"k": None}]}
    assert to_json(collected(cluster))[0]["attributes"] == {"node.id": 1, "deep": [{"k": None}]}


WRONG = {
    "text": b"no protobuf",
    "cut": metrics_data(gauge("a", 1.0))[:-3],
    "deep": b"\x0a\xff\xff\xff\xff\x07",
    "group": b"\x0b" * 1000,
    "not UTF-8": b"\x0a\x06\x12\x04\x12\x02\x0a\xff",
}


@pytest.mark.parametrize("data", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("codec", sorted(CODECS))
def test_undecodable_telemetry_is_an_invalid_record(cluster: Harness, data: bytes, codec: int) -> None:
    assert push(cluster, compress(codec, data), codec) == codes.INVALID_RECORD
    if codec:
        assert push(cluster, data, codec) == codes.INVALID_RECORD
    assert collected(cluster) == []
    assert push(cluster, metrics_data(gauge("a", 1.0))) == codes.NONE, "the node goes on"


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_pushed_metrics_are_decompressed_up_to_a_limit(cluster: Harness, codec: int) -> None:
    """It would be 20 MB."""
    bomb = compress(codec, bytes(20 << 20) if codec != 2 else bytes(200_000))
    code = push(cluster, bomb, codec)
    assert code == (codes.INVALID_RECORD if len(bomb) <= 100_000 else codes.TELEMETRY_TOO_LARGE)
    assert collected(cluster) == []


def test_the_newest_values_are_kept(cluster: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry, "KEPT_VALUES", 5)
    for number in range(10):
        assert push(cluster, metrics_data(gauge("a", number, number + 0.5))) == codes.NONE
    assert [value.value for value in collected(cluster)] == [7.5, 8, 8.5, 9, 9.5]
    assert push(cluster, metrics_data(gauge("many", *range(100)))) == codes.NONE
    assert [value.value for value in collected(cluster)] == [95, 96, 97, 98, 99]
    for _ in range(100):
        assert push(cluster, metrics_data()) == codes.NONE
    assert "5 values of 1 pushes" in repr(cluster.node.telemetry)


def test_long_texts_do_not_fill_the_memory(cluster: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry, "KEPT_BYTES", 50_000)
    for number in range(20):
        assert push(cluster, metrics_data(gauge("x" * 20_000, number))) == codes.NONE
    assert [value.value for value in collected(cluster)] == [18, 19]


def test_telemetry_apis_are_answered_and_hidden_by_default() -> None:
    def listed(kafka: KafkaDouble) -> set[int]:
        return {api.api_key for api in ask(("127.0.0.1", kafka.port), ApiVersionsRequest(), 0).api_keys}

    with KafkaDouble() as kafka:
        assert not {71, 72} & listed(kafka)
        response = ask(("127.0.0.1", kafka.port), GetTelemetrySubscriptionsRequest(), 0)
        assert (response.error_code, response.push_interval_ms) == (codes.NONE, 300_000)
        with pytest.raises(UsageError, match="give telemetry=True"):
            _ = kafka.telemetry
    with KafkaDouble(telemetry=True, brokers=2) as kafka:
        assert {71, 72} <= listed(kafka)


def test_a_reset_forgets_the_values() -> None:
    with KafkaDouble(telemetry=True) as kafka:
        address = "127.0.0.1", kafka.port
        response = ask(address, GetTelemetrySubscriptionsRequest(client_instance_id=ID), 0)
        data = metrics_data(gauge("a", float("nan")))
        request = PushTelemetryRequest(client_instance_id=ID, subscription_id=response.subscription_id, metrics=data)
        assert ask(address, request, 0).error_code == codes.NONE
        assert [value.name for value in kafka.telemetry] == ["a"]
        (shown,) = to_json(kafka.telemetry)
        assert shown["value"] == "NaN", "JSON has no such number"
        kafka.reset()
        assert kafka.telemetry == []


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, telemetry.OTLP, None)
    with pytest.raises(UsageError, match=r"pip install 'kafkadouble\[telemetry\]'"):
        KafkaDouble(telemetry=True)


def test_serve_takes_the_metrics_of_clients() -> None:
    with serving("--telemetry") as broker:
        assert {71, 72} <= {api.api_key for api in broker.ask(ApiVersionsRequest(), 0).api_keys}
    assert "--telemetry" in run("serve", "--help").stdout
