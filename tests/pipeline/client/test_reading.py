"""Reads that continue when connections, leaders and topics change; and the error when a read cannot
continue."""

from __future__ import annotations

import pickle

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.pipeline.client import (
    ApiError,
    Client,
    ClientError,
    LogTruncated,
    NoSuchTopic,
    NotAuthorized,
    OffsetAndEpoch,
    OffsetOutOfRange,
    TimedOut,
    TopicPartition,
    TopicRecreated,
)
from kafkadouble.wire.errors import UsageError
from tests.support.pipeline_client import batch, client_of, read, values

T0 = TopicPartition("t", 0)
VALUES = [b"%d" % number for number in range(10)]


pytestmark = pytest.mark.usefixtures("ten")


@pytest.mark.parametrize("lost", ["the request", "the answer"])
def test_a_lost_connection_is_replaced(double: KafkaDouble, client: Client, lost: str) -> None:
    double.disconnect("Fetch", after=lost == "the answer", times=5)
    assert read(client, T0, 0, 10, max_bytes=1) == VALUES


@pytest.mark.parametrize(
    "error",
    [
        "NOT_LEADER_OR_FOLLOWER", "LEADER_NOT_AVAILABLE", "KAFKA_STORAGE_ERROR", "FENCED_LEADER_EPOCH",
        "UNKNOWN_LEADER_EPOCH", "UNKNOWN_TOPIC_OR_PARTITION", "UNKNOWN_TOPIC_ID", "INCONSISTENT_TOPIC_ID",
        "OFFSET_NOT_AVAILABLE", "REPLICA_NOT_AVAILABLE",
    ],
)  # fmt: skip
def test_a_request_that_may_succeed_later_is_retried(double: KafkaDouble, client: Client, error: str) -> None:
    rule = double.fail("Fetch", error, times=2, on_call=3)
    assert read(client, T0, 0, 10, max_bytes=1) == VALUES
    assert rule.hits == 2


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("UNKNOWN_SERVER_ERROR", ApiError),
        ("CORRUPT_MESSAGE", ApiError),
        ("TOPIC_AUTHORIZATION_FAILED", NotAuthorized),
        ("OFFSET_OUT_OF_RANGE", OffsetOutOfRange),
    ],
)
def test_permanent_error_of_a_fetch_is_raised(
    double: KafkaDouble, client: Client, error: str, kind: type[ClientError]
) -> None:
    double.fail("Fetch", error, on_call=3)
    with pytest.raises(kind, match="t-0"):
        read(client, T0, 0, 10, max_bytes=1)
    assert read(client, T0, 0, 10) == VALUES


@pytest.mark.parametrize("api", ["ApiVersions", "Metadata", "ListOffsets", "OffsetForLeaderEpoch"])
@pytest.mark.parametrize("fault", ["disconnect", "silence"])
def test_fetch_with_a_retriable_error_is_sent_again(double: KafkaDouble, api: str, fault: str) -> None:
    if fault == "disconnect":
        double.disconnect(api, times=3)
    else:
        double.delay(api, seconds=60, times=2)
    with client_of(double.bootstrap_servers, request_timeout_ms=200 if fault == "silence" else 30_000) as client:
        assert client.offsets({T0: -1}) == {T0: OffsetAndEpoch(10, 0)}
        assert client.ends_of_epochs({T0: 0}) == {T0: OffsetAndEpoch(10, 0)}


def test_read_without_progress_times_out_at_the_partition(double: KafkaDouble) -> None:
    with client_of(double.bootstrap_servers, default_api_timeout_ms=100) as client:
        double.fail("Fetch", "NOT_LEADER_OR_FOLLOWER", times=None)
        with pytest.raises(TimedOut, match=r"reading t-0: not within 100 ms .*: t-0: NOT_LEADER_OR_FOLLOWER"):
            read(client, T0, 0, 10)


def test_read_waits_for_offsets_that_are_not_written_yet(double: KafkaDouble, client: Client) -> None:
    reading = client.read(T0, 0, 11)
    assert values([next(reading).buffer]) == VALUES
    double.produce("t", b"late")
    assert values([next(reading).buffer]) == [b"late"]


def test_read_of_offsets_that_are_never_written_times_out(double: KafkaDouble) -> None:
    message = "offset 10 of 11 was not written: readers are given what is before 10"
    client = client_of(double.bootstrap_servers, default_api_timeout_ms=100, fetch_max_wait_ms=10)
    with client, pytest.raises(TimedOut, match=message):
        read(client, T0, 0, 11)


def test_next_fetch_is_sent_while_a_response_is_decoded(double: KafkaDouble, client: Client) -> None:
    reading = client.read(T0, 0, 10, max_bytes=1)
    next(reading)
    # This request has another connection, and so its response may come first.
    client.offsets({T0: -1})
    while len(double.requests.of("Fetch")) < 2:
        pass
    reading.close()
    assert read(client, T0, 0, 10) == VALUES


def test_fetched_batch_does_not_change_after_the_next_fetch(client: Client) -> None:
    fetched = list(client.read(T0, 0, 10, max_bytes=1))
    assert [each.position for each in fetched] == list(range(10))
    assert [each.next_offset for each in fetched] == list(range(1, 11))
    assert values(each.buffer for each in fetched) == VALUES


def test_a_batch_larger_than_requested_comes_whole(double: KafkaDouble, client: Client) -> None:
    large = b"v" * 900_000
    client.producer().send({T0: [batch(large)]})
    assert read(client, T0, 10, 11, max_bytes=100) == [large]


def test_a_read_may_begin_inside_a_batch(client: Client) -> None:
    client.producer().send({T0: [batch(b"a", b"b", b"c")]})
    fetched = next(client.read(T0, 12, 13))
    assert (fetched.position, fetched.next_offset) == (12, 13)
    assert values([fetched.buffer], 12) == [b"c"]


def test_a_truncation_is_found_out(double: KafkaDouble, client: Client) -> None:
    double.truncate("t", 0, 4)
    for value in VALUES:
        double.produce("t", value)
    with pytest.raises(LogTruncated) as caught:
        read(client, T0, 7, 14, leader_epoch=0)
    assert (caught.value.partition, caught.value.end) == (T0, OffsetAndEpoch(4, 0))
    assert "t-0 was truncated" in str(caught.value)
    assert client.ends_of_epochs({T0: 0}) == {T0: OffsetAndEpoch(4, 0)}


def test_a_truncation_while_reading_is_found_out(double: KafkaDouble, client: Client) -> None:
    reading = client.read(T0, 0, 20)
    assert values([next(reading).buffer]) == VALUES
    double.truncate("t", 0, 4)
    for value in VALUES:
        double.produce("t", value)
    with pytest.raises(LogTruncated, match="only up to offset 4 of epoch 0"):
        next(reading)


def test_offset_beyond_the_end_without_an_epoch_is_reported(double: KafkaDouble, client: Client) -> None:
    double.truncate("t", 0, 4)
    with pytest.raises(OffsetOutOfRange, match="t-0 has no offset 7: it has offsets from 0 to 4"):
        read(client, T0, 7, 14)


def test_a_topic_of_the_same_name_is_another_one(double: KafkaDouble, client: Client) -> None:
    reading = client.read(T0, 0, 20)
    next(reading)
    double.delete_topic("t")
    double.create_topic("t")
    with pytest.raises(TopicRecreated, match="'t' was deleted and recreated while t-0 was read at offset 10"):
        next(reading)


def test_a_topic_that_is_deleted_is_missed(double: KafkaDouble, client: Client) -> None:
    reading = client.read(T0, 0, 20)
    next(reading)
    double.delete_topic("t")
    with pytest.raises(NoSuchTopic, match="no topic 't'"):
        next(reading)


def test_a_wrong_isolation_is_refused(client: Client) -> None:
    with pytest.raises(UsageError, match="'dirty' is no isolation level"):
        next(client.read(T0, 0, 10, isolation="dirty"))


def test_errors_go_from_process_to_process() -> None:
    end = OffsetAndEpoch(4, 0)
    for error in (
        OffsetOutOfRange(T0, 7, 0, 4),
        LogTruncated(T0, OffsetAndEpoch(7, 0), end),
        ApiError("x", 3),
        TimedOut("y"),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
