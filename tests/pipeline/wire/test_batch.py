"""What a batch query reads."""

from __future__ import annotations

import logging

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.pipeline.client import ApiError, NoSuchTopic, NotReachable, TimedOut, TopicPartition
from kafkadouble.pipeline.wire.losses import DataLoss
from kafkadouble.pipeline.wire.task import ReadTask
from kafkadouble.wire.errors import UsageError

from .making import delete_before, fill, plan_of, settings, spans, values

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def test_batch_read_takes_all_existing_records(double: KafkaDouble) -> None:
    fill(double, "a", "b")
    fill(double, "c", partition=1)
    assert spans(plan_of(double)) == [ReadTask(T0, 0, 2), ReadTask(T1, 0, 1)]
    assert values(plan_of(double), settings(double)) == ["a", "b", "c"]


def test_offsets_of_each_partition(double: KafkaDouble) -> None:
    fill(double, *"abcde")
    arguments = {"startingOffsets": '{"t":{"0":1,"1":-2}}', "endingOffsets": '{"t":{"0":4,"1":-1}}'}
    assert values(plan_of(double, **arguments), settings(double)) == ["b", "c", "d"]


def test_offsets_by_time(double: KafkaDouble) -> None:
    for at, text in enumerate("abcde"):
        fill(double, text, timestamp=1000 + at)
    arguments = {"startingTimestamp": "1001", "endingTimestamp": "1003", "assign": '{"t":[0]}'}
    assert spans(plan_of(double, **arguments)) == [ReadTask(T0, 1, 3)]
    each = {"startingOffsetsByTimestamp": '{"t":{"0":1004}}', "endingOffsetsByTimestamp": '{"t":{"0":9999}}'}
    assert spans(plan_of(double, assign='{"t":[0]}', **each)) == [ReadTask(T0, 4, 5)]


def test_starting_timestamp_behind_the_last_record_is_refused(double: KafkaDouble) -> None:
    fill(double, "a", timestamp=1000)
    with pytest.raises(UsageError, match="startingTimestamp: t-0 has no record with timestamp 1001 or later"):
        plan_of(double, startingTimestamp="1001")
    arguments = {"startingTimestamp": "1001", "startingOffsetsByTimestampStrategy": "latest"}
    assert plan_of(double, **arguments) == []


def test_large_partitions_are_split(double: KafkaDouble) -> None:
    fill(double, *"abcdefgh")
    assert spans(plan_of(double, minPartitions="3")) == [ReadTask(T0, 0, 2), ReadTask(T0, 2, 5), ReadTask(T0, 5, 8)]
    assert [task.end for task in plan_of(double, maxRecordsPerPartition="4")] == [4, 8]


def test_topics_by_a_pattern(double: KafkaDouble) -> None:
    double.create_topic("orders.eu")
    double.create_topic("orders.us")
    fill(double, "x", topic="orders.eu")
    fill(double, "y", topic="orders.us")
    assert [task.tp.topic for task in plan_of(double, subscribePattern=r"\.(eu|us)$")] == ["orders.eu", "orders.us"]
    assert plan_of(double, subscribePattern="nothing") == []


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"assign": '{"t":[0,7]}'}, "the option assign names t-7, and the topic t has no such partition"),
        ({"startingOffsets": '{"t":{"0":0}}'}, "startingOffsets must name the partitions that are read, all and no"),
        ({"startingOffsets": '{"t":{"0":2,"1":0}}'}, "startingOffsets begins t-0 at 2, which is behind 1"),
    ],
)
def test_invalid_batch_is_refused(double: KafkaDouble, given: dict[str, str], words: str) -> None:
    fill(double, "a")
    with pytest.raises(UsageError, match=words):
        plan_of(double, **given)


def test_a_topic_that_is_not_there_is_named(double: KafkaDouble) -> None:
    with pytest.raises(NoSuchTopic, match="no topic 'nowhere'"):
        plan_of(double, subscribe="nowhere")


def test_a_broker_that_cannot_be_reached_is_named() -> None:
    with KafkaDouble() as gone:
        address = gone.bootstrap_servers
    with pytest.raises((NotReachable, TimedOut), match=address):
        plan_of(gone_double(address), kafka_default_api_timeout_ms="50")


def gone_double(address: str) -> KafkaDouble:
    class Gone:
        bootstrap_servers = address

    return Gone()  # type: ignore[return-value]  # all that is asked of it


def test_offsets_are_requested_as_often_as_the_option_allows(double: KafkaDouble) -> None:
    double.fail("ListOffsets", "INVALID_REQUEST", times=2)
    assert plan_of(double, fetchOffset_numRetries="3") == []
    double.fail("ListOffsets", "INVALID_REQUEST", times=2)
    with pytest.raises(ApiError, match="INVALID_REQUEST"):
        plan_of(double, fetchOffset_numRetries="2")


def test_offsets_that_are_deleted(double: KafkaDouble, caplog: pytest.LogCaptureFixture) -> None:
    fill(double, *"abcde")
    delete_before(double, T0, 3)
    arguments = {"startingOffsets": '{"t":{"0":1,"1":0}}'}
    with pytest.raises(
        DataLoss, match="the offsets 1 to 2 of t-0 are lost: its log starts at 3; set the option failOnD"
    ):
        plan_of(double, **arguments)
    with caplog.at_level(logging.WARNING):
        assert spans(plan_of(double, failOnDataLoss="false", **arguments)) == [ReadTask(T0, 3, 5)]
    assert "offsets 1 to 2 of t-0 are lost" in caplog.text


def test_offsets_that_were_never_there(double: KafkaDouble) -> None:
    fill(double, "a")
    arguments = {"endingOffsets": '{"t":{"0":9,"1":0}}'}
    with pytest.raises(DataLoss, match="the offsets 1 to 8 of t-0, which this batch must read, are lost"):
        plan_of(double, **arguments)
    assert spans(plan_of(double, failOnDataLoss="false", **arguments)) == [ReadTask(T0, 0, 1)]
