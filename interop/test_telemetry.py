"""What users rely on: Java's clients push their metrics to a kafkadouble with `telemetry=True`
(KIP-714), and a test reads them as values.

An Apache Kafka needs a plugin for that, so there is nothing to run on it.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from interop.local.cluster import Kafka
from kafkadouble import KafkaDouble
from kafkadouble.seen.telemetry import TelemetryValue

pytest.importorskip("opentelemetry.proto.metrics.v1.metrics_pb2")

LONG_S, HOUR_MS = 60.0, 3_600_000
PROGRAM = Path(__file__).with_name("MetricsPush.java")
PREFIX = "org.apache.kafka."


IDS = ("java-producer", "java-consumer")


def pushed(kafka: KafkaDouble) -> dict[str, str]:
    """Runs the clients, until each has pushed what it measured after its work; their client
    instance ids by client id."""
    ids = {}
    command = Kafka().java(str(PROGRAM), kafka.bootstrap_servers, "orders")
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line in process.stdout:
            if not line.startswith(IDS):
                continue
            client_id, ids[client_id] = line.split()[0], line.split()[1]
            before = len(kafka.requests.of("PushTelemetry", client_id=client_id))
            kafka.wait_for_request("PushTelemetry", before + 2, client_id=client_id, timeout=LONG_S)
            print(file=process.stdin, flush=True)
    assert process.returncode == 0
    return ids


def total(values: Sequence[TelemetryValue], name: str) -> float:
    """The sum of what was pushed of a counter, over all topics: a client pushes the difference to
    its last push."""
    return sum(value.value for value in values if value.name == PREFIX + name and "topic" not in value.attributes)


@pytest.mark.usefixtures("local_jars")
def test_metrics_of_javas_clients_are_values() -> None:
    with KafkaDouble(telemetry=True) as kafka:
        kafka.create_topic("orders")
        kafka.set_client_metrics("all", {"metrics": "*", "interval.ms": 100})
        ids = pushed(kafka)
        values = kafka.telemetry
        assert {each.error for each in kafka.requests.of("PushTelemetry")} == {None}
    assert ids == {value.client_id: value.client_instance_id for value in values}
    producer, consumer = ([value for value in values if value.client_id == client_id] for client_id in IDS)
    assert total(producer, "producer.record.send.total") == 3
    assert total(consumer, "consumer.fetch.manager.records.consumed.total") == 3
    assert {value.attributes["group_id"] for value in consumer} == {"readers"}
    assert all(abs(value.time_ms - time.time() * 1000) < HOUR_MS for value in values)
