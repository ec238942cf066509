"""/metrics: Kafka's names, and values that agree with the double."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from kafkadouble import KafkaDouble
from kafkadouble.control.server import ControlServer
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.tracing import request_counts
from kafkadouble.wire.batch import Record, encode_batch
from tests.control.http import call
from tests.support.client import ask


def readings(url: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    answer = call(url, "GET", "/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    families = text_string_to_metric_families(answer.body.decode())
    return {(each.name, tuple(sorted(each.labels.items()))): each.value for one in families for each in one.samples}


def test_requests_are_counted_since_the_first_reading(url: str, kafka: KafkaDouble) -> None:
    readings(url)
    before = readings(url)
    kafka.fail("Metadata", "UNKNOWN_SERVER_ERROR")
    for _ in range(2):
        ask(("127.0.0.1", kafka.port), MetadataRequest(topics=[]), 12)
    kafka.reset()
    ask(("127.0.0.1", kafka.port), MetadataRequest(topics=[]), 12)
    after = readings(url)
    key = "kafka_network_requestmetrics_requests_total", (("request", "Metadata"), ("version", "12"))
    assert after[key] - before.get(key, 0) == 3
    time = "kafka_network_requestmetrics_totaltimems_count", (("request", "Metadata"),)
    assert after[time] - before.get(time, 0) == 3


def test_the_bytes_of_records_are_counted_by_topic(url: str, kafka: KafkaDouble) -> None:
    kafka.create_topic("orders")
    readings(url)
    batch = bytes(encode_batch([Record(0, 0, None, b"two pears", ())]))
    address = "127.0.0.1", kafka.port
    of = ProduceRequest
    partition = of.PartitionProduceData(index=0, records=batch)
    topic = of.TopicProduceData(name="orders", partition_data=[partition])
    assert (
        ask(address, of(acks=1, timeout_ms=1000, topic_data=[topic]), 9).responses[0].partition_responses[0].error_code
        == 0
    )
    for version, name in ((11, {"topic": "orders"}), (13, {"topic_id": Uuid.parse(kafka.topics()["orders"].id)})):
        fetched = FetchRequest.FetchTopic(partitions=[FetchRequest.FetchPartition(partition_max_bytes=1000)], **name)
        ask(address, FetchRequest(session_epoch=-1, topics=[fetched]), version)
    found = readings(url)
    assert found["kafka_server_brokertopicmetrics_bytesin_total", (("topic", "orders"),)] == len(batch)
    assert found["kafka_server_brokertopicmetrics_bytesout_total", (("topic", "orders"),)] == 2 * len(batch)


def test_topics_that_do_not_exist_are_not_counted(url: str, kafka: KafkaDouble) -> None:
    readings(url)
    of = ProduceRequest
    partition = of.PartitionProduceData(index=7, records=bytes(encode_batch([Record(0, 0, None, b"v", ())])))
    topics = [of.TopicProduceData(name=f"none-{number}", partition_data=[partition]) for number in range(3)]
    ask(("127.0.0.1", kafka.port), of(acks=1, timeout_ms=1000, topic_data=topics), 9)
    assert not [labels for name, labels in readings(url) if "bytesin" in name and "none-" in str(labels)]


def test_the_topics_that_are_counted_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_counts, "MOST_TOPICS", 2)
    monkeypatch.setattr(request_counts, "sizes_of", lambda seen: [("a", 1), ("b", 2), ("c", 3), ("b", 2)])
    counts = request_counts.RequestCounts()
    seen: Any = SimpleNamespace(api="Fetch", version=4, errors=(), took=None, outcome="answered")
    counts.add(seen)
    assert counts.bytes_out == {"b": 4, "c": 3}


def test_the_state_is_that_of_the_double(url: str, kafka: KafkaDouble) -> None:
    kafka.create_topic("orders", 2)
    kafka.produce("orders", "two pears", partition=1)
    kafka.ignore("Fetch")
    kafka.commit_offsets("shop", {("orders", 1): 1})
    found = readings(url)
    assert found["kafka_log_log_logendoffset", (("partition", "1"), ("topic", "orders"))] == 1
    assert found["kafka_log_log_logstartoffset", (("partition", "1"), ("topic", "orders"))] == 0
    assert found["kafka_coordinator_group_groupmetadatamanager_numgroups", ()] == 1
    assert found["kafka_controller_kafkacontroller_globaltopiccount", ()] == len(kafka.topics(internal=True))
    assert found["kafkadouble_rule_hits_total", (("id", "1"), ("rule", repr(kafka.rules[0].rule)))] == 0
    assert found["kafka_consumergroup_lag", (("consumergroup", "shop"), ("partition", "1"), ("topic", "orders"))] == 0
    assert found["kafka_consumergroup_members", (("consumergroup", "shop"),)] == 0
    assert found["process_resident_memory_bytes", ()] > 1e6


def test_a_broker_that_is_gone() -> None:
    with KafkaDouble(brokers=3, seed=1) as kafka, ControlServer(kafka) as control:
        kafka.create_topic("orders", replication_factor=3)
        kafka.brokers[1].kill()
        kafka.expire_session(1)
        kafka.wait_for_leader("orders", 0, epoch=0)
        found = readings(control.url)
        assert found["kafkadouble_broker_running", (("broker", "1"),)] == 0
        assert found["kafka_controller_kafkacontroller_fencedbrokercount", ()] == 1
        kafka.down()
        found = readings(control.url)
        assert [found["kafkadouble_broker_running", (("broker", str(id)),)] for id in (1, 2, 3)] == [0, 0, 0]
