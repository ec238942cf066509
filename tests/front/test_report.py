"""What `report` tells of a double."""

from __future__ import annotations

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.common.plural import counted
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.heartbeat import HeartbeatRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.report import requests as requests_section
from tests.support.client import ask


def lines(kafka: KafkaDouble, title: str, count: int = 15) -> list[str]:
    """The lines of a section, which are indented."""
    text = kafka.report(count)
    assert f"{title}:\n" in text, text
    following = text.partition(f"{title}:\n")[2].splitlines()
    end = next((at for at, line in enumerate(following) if not line.startswith("  ")), len(following))
    return [line.strip() for line in following[:end]]


def metadata(kafka: KafkaDouble, topic: str) -> None:
    of = MetadataRequest
    ask(kafka.bootstrap_servers, of(topics=[of.MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False), 9)


def fetch(kafka: KafkaDouble, offset: int) -> None:
    of = FetchRequest
    partition = of.FetchPartition(fetch_offset=offset, partition_max_bytes=1000)
    ask(
        kafka.bootstrap_servers,
        of(session_epoch=-1, topics=[of.FetchTopic(topic="orders", partitions=[partition])]),
        11,
    )


def test_idle_fetches_and_heartbeats_are_one_line() -> None:
    with KafkaDouble() as kafka:
        kafka.create_topic("orders")
        kafka.produce("orders", "two pears")
        for _ in range(3):
            fetch(kafka, 1)
        fetch(kafka, 0)
        ask(kafka.bootstrap_servers, HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), 4)
        found = lines(kafka, "the last requests")
    assert len(found) == 3
    assert found[0].endswith(" 3 requests without news of 'test': 3 Fetch")
    assert "1 record in" in found[1]
    assert "Heartbeat" in found[2], "it has an error"
    assert "NOT_COORDINATOR" in found[2]


def test_earlier_requests_with_errors_and_rules_are_kept() -> None:
    with KafkaDouble() as kafka:
        metadata(kafka, "nowhere")
        kafka.create_topic("orders")
        kafka.delay("Metadata", 0.001)
        for _ in range(20):
            metadata(kafka, "orders")
        found = lines(kafka, "the last requests", count=2)
    assert found[0] == "19 earlier requests, 2 of them with an error or a rule:"
    assert "UNKNOWN_TOPIC_OR_PARTITION" in found[1]
    assert "(rule: delay)" in found[2]
    assert found[3] == "the last ones:"
    assert len(found) == 6


def test_the_time_for_which_a_client_is_throttled_is_told() -> None:
    with KafkaDouble() as kafka:
        kafka.throttle("Metadata", 0.041)
        metadata(kafka, "orders")
        assert "throttled for 41 ms" in lines(kafka, "the last requests")[0]


def test_topics_groups_and_transactions_are_told() -> None:
    with KafkaDouble() as kafka:
        kafka.create_topic("orders", 2)
        kafka.produce_all("orders", ["a", "b", "c"], partition=1)
        kafka.commit_offsets("shop", {("orders", 1): 1})
        assert lines(kafka, "topics") == ["orders: 0: 0 to 0, 1: 0 to 3"]
        assert lines(kafka, "groups") == ["shop: classic, Empty, 0 members, lag 2, committed: orders-1@1"]


def test_a_rule_that_nothing_matched_is_told_once_with_what_came_near() -> None:
    with KafkaDouble() as kafka:
        kafka.fail("Metadata", "UNKNOWN_SERVER_ERROR", topic="order")
        kafka.fail("Produce", "NOT_LEADER_OR_FOLLOWER")
        metadata(kafka, "orders")
        found = lines(kafka, "fault rules")
    assert found[0].startswith("matched no request: fail Metadata with UNKNOWN_SERVER_ERROR")
    assert "Metadata v9" in found[1]
    assert found[2] == "topic is orders, not order"
    assert found[3].startswith("matched no request: fail Produce")
    assert found[4] == "no Produce request came"
    assert len(found) == 5


@pytest.mark.parametrize("brokers", [1, 2])
def test_report_is_made_while_a_broker_is_down_and_after_a_stop(brokers: int) -> None:
    with KafkaDouble(brokers=brokers) as kafka:
        kafka.create_topic("orders", replication_factor=brokers)
        metadata(kafka, "orders")
        kafka.down(2 if brokers == 2 else 1)
        assert lines(kafka, "brokers") == ["2: down" if brokers == 2 else "1: down"]
        assert "Metadata" in lines(kafka, "the last requests")[0]
        expected = "orders: 0: 0 to 0" if brokers == 2 else "not shown: "
        assert lines(kafka, "topics")[0].startswith(expected)
    assert lines(kafka, "brokers") == ["the double was stopped"]
    assert "Metadata" in lines(kafka, "the last requests")[0]


def test_report_counts_nouns_in_the_plural() -> None:
    assert [counted(1, "match"), counted(2, "match"), counted(1000, "reply")] == [
        "1 match",
        "2 matches",
        "1,000 replies",
    ]


def test_report_says_that_there_was_no_request() -> None:
    assert list(requests_section.told([], 15)) == ["no client sent a request"]
