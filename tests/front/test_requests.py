"""Filters and assertions of `kafka.requests`: what matches, what is refused, what failures say."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.messages import registry
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.heartbeat import HeartbeatRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.offset_commit import OffsetCommitRequest
from kafkadouble.messages.generated.produce import ProduceRequest, ProduceResponse
from kafkadouble.messages.uuid import Uuid
from kafkadouble.seen.request_filter import PARTS
from kafkadouble.seen.requests import Requests
from kafkadouble.server.apis.part_lists import kinds_of
from kafkadouble.server.apis.served import ROWS
from kafkadouble.wire.batch import Record, encode_batch
from tests.support.client import ask
from tests.support.seen import NOW, Session


def produce(session: Session, topic: str, partition: int = 0, error: int = 0, **more: Any) -> None:
    records = encode_batch([Record(0, NOW, None, b"x")])
    data = [ProduceRequest.PartitionProduceData(index=index, records=records) for index in (partition, 7)]
    body = ProduceRequest(acks=1, topic_data=[ProduceRequest.TopicProduceData(name=topic, partition_data=data)])
    part = ProduceResponse.PartitionProduceResponse
    parts = [part(index=partition, error_code=error), part(index=7)]
    topics = [ProduceResponse.TopicProduceResponse(name=topic, partition_responses=parts)]
    session.request(body, ProduceResponse(responses=topics), 9, **more)


@pytest.fixture
def session() -> Session:
    session = Session()
    session.request(MetadataRequest(topics=None), client_id="other", broker=2)
    produce(session, "orders", 0, took=5)
    produce(session, "orders", 1, error=6)
    partitions = [OffsetCommitRequest.OffsetCommitRequestPartition(partition_index=0)]
    topics = [OffsetCommitRequest.OffsetCommitRequestTopic(name="orders", partitions=partitions)]
    session.request(OffsetCommitRequest(group_id="shop", topics=topics), None, 9)
    session.request(HeartbeatRequest(group_id="shop"), outcome="abandoned")
    return session


MATCHES: dict[str, tuple[Callable[[Requests], list[Any]], list[int]]] = {
    "all": (lambda r: r.of(), [1, 2, 3, 4, 5]),
    "an API": (lambda r: r.of("Produce"), [2, 3]),
    "two APIs": (lambda r: r.of("Produce", "Heartbeat"), [2, 3, 5]),
    "a topic": (lambda r: r.of(topic="orders"), [2, 3, 4]),
    "another topic": (lambda r: r.of("Produce", topic="ordres"), []),
    "a partition": (lambda r: r.of("Produce", topic="orders", partition=1), [3]),
    "a partition of any topic": (lambda r: r.of(partition=7), [2, 3]),
    "a group": (lambda r: r.of(group="shop"), [4, 5]),
    "a group and a topic": (lambda r: r.of(group="shop", topic="orders"), [4]),
    "a client": (lambda r: r.of(client_id="other"), [1]),
    "a broker": (lambda r: r.of(broker=1), [2, 3, 4, 5]),
    "an error": (lambda r: r.of(error="NOT_LEADER_OR_FOLLOWER"), [3]),
    "an error by number": (lambda r: r.of(error=6), [3]),
    "an error of a partition": (lambda r: r.of("Produce", partition=1, error=6), [3]),
    "no error of that partition": (lambda r: r.of("Produce", partition=7, error=6), []),
    "any error": (lambda r: r.of("Produce", error=True), [3]),
    "no error": (lambda r: r.of("Produce", error=False), [2]),
    "a time": (lambda r: r.of(since=NOW + 1), [3, 4, 5]),
    "after a request": (lambda r: r.of(since=r[2]), [4, 5]),
    "a keyword that is None": (lambda r: r.of("Produce", topic=None), [2, 3]),
}


@pytest.mark.parametrize(("find", "expected"), MATCHES.values(), ids=MATCHES)
def test_filter_of_requests_finds_the_matching_requests(
    session: Session, find: Callable[[Requests], list[Any]], expected: list[int]
) -> None:
    assert [seen.correlation_id for seen in find(session.requests)] == expected


def test_a_request_that_is_not_kept_any_more_is_before_all() -> None:
    old, session = Session(), Session()
    produce(old, "orders")
    produce(session, "orders")
    assert len(session.requests.of(since=old.requests[0])) == 1


REFUSED: dict[str, tuple[Callable[[Any], object], str]] = {
    "an unknown API": (lambda r: r.of("Prodcue"), "did you mean 'Produce'"),
    "a topic of a heartbeat": (
        lambda r: r.of("Heartbeat", topic="t"),
        "requests of Heartbeat name no topic: narrow them by group, client_id, principal, broker, error, since",
    ),
    "one of two": (lambda r: r.of("Produce", "ListGroups", topic="t"), "requests of ListGroups name no topic"),
    "an unknown keyword": (lambda r: r.of("Produce", topics="t"), "no filter 'topics': .*did you mean 'topic'"),
    "an unknown error": (lambda r: r.of(error="NOT_LEADER"), "Kafka has no error 'NOT_LEADER'"),
    "a partition as text": (lambda r: r.of(partition="0"), "partition is an index from 0, not '0'"),
    "a client that is a number": (lambda r: r.of(client_id=5), "client_id is a text, not 5"),
    "a broker as text": (lambda r: r.of(broker="1"), "broker is the id of a broker, not '1'"),
    "a time as text": (lambda r: r.of(since="now"), "since is a time in ms since the epoch, or a SeenRequest"),
    "a half": (lambda r: r.assert_seen("Produce", times=0.5), "times is a number of requests from 0, not 0.5"),
}


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_a_filter_that_nothing_matches_is_refused(
    session: Session, call: Callable[[Requests], object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        call(session.requests)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_api_is_narrowed_by_what_its_requests_name(row: Any) -> None:
    requests = Session().requests
    values: dict[str, Any] = {"topic": "t", "partition": 0, "group": "g", "transactional_id": "x"}
    for kind in PARTS:
        if kind in kinds_of(row.name, registry.api_named(row.name).request):
            assert requests.of(row.name, **{kind: values[kind]}) == []
        else:
            with pytest.raises(UsageError, match=f"requests of {row.name} name no {kind.replace('_', ' ')}"):
                requests.of(row.name, **{kind: values[kind]})


def test_assert_seen_returns_the_matching_requests(session: Session) -> None:
    requests = session.requests
    assert [seen.correlation_id for seen in requests.assert_seen("Produce", topic="orders")] == [2, 3]
    requests.assert_seen("Produce", partition=1, times=1)
    requests.assert_not_seen("Produce", topic="payments")


def test_a_failed_assertion_shows_the_nearest_requests(session: Session) -> None:
    with pytest.raises(AssertionError) as failed:
        session.requests.assert_seen("Produce", topic="ordres", client_id="app")
    lines = str(failed.value).splitlines()
    assert lines[0] == (
        "expected at least one request to match Produce with topic 'ordres', client_id 'app', but none of 5 do"
    )
    assert lines[1] == "the nearest:"
    assert " Produce v9 #3 of 'app'" in lines[2]
    assert lines[3] == "      topic is orders, not ordres"
    assert " Produce v9 #2 of 'app'" in lines[4]
    assert lines[6] == "the last requests:"
    assert [line.split("#")[1].split(" ")[0] for line in lines[7:]] == ["1", "2", "3", "4", "5"]


def test_a_request_of_another_api_is_near_if_nothing_else_differs(session: Session) -> None:
    with pytest.raises(
        AssertionError, match=r"the nearest:\n.* OffsetCommit .*\n +api is OffsetCommit, not OffsetFetch\n"
    ):
        session.requests.assert_seen("OffsetFetch", group="shop", topic="orders")


def test_a_failed_assertion_says_which_error_a_partition_had(session: Session) -> None:
    with pytest.raises(AssertionError, match=r"error is NOT_LEADER_OR_FOLLOWER, not CORRUPT_MESSAGE"):
        session.requests.assert_seen("Produce", partition=1, error="CORRUPT_MESSAGE")
    with pytest.raises(AssertionError, match=r"error is none, abandoned, not any error"):
        session.requests.assert_seen("Heartbeat", error=True)


def test_assert_seen_with_a_wrong_count_shows_the_requests(session: Session) -> None:
    with pytest.raises(
        AssertionError, match=r"expected 1 request to match Produce, but 2 of 5 do\nthese match:"
    ) as failed:
        session.requests.assert_seen("Produce", times=1)
    assert "the last requests" not in str(failed.value)
    with pytest.raises(AssertionError, match=r"expected no request to match Produce with any error, but 1 of 5 does"):
        session.requests.assert_not_seen("Produce", error=True)
    with pytest.raises(AssertionError, match="the last requests"):
        session.requests.assert_seen("Produce", times=3)


def test_assert_seen_of_a_long_history_fails_with_a_short_text() -> None:
    session = Session()
    for index in range(1000):
        produce(session, f"topic-{index}")
    with pytest.raises(AssertionError) as failed:
        session.requests.assert_seen("Produce", topic="orders", times=1)
    assert len(str(failed.value)) < 2500
    with pytest.raises(AssertionError, match="and 995 more") as failed:
        session.requests.assert_not_seen("Produce")
    assert len(str(failed.value)) < 1500


def test_assert_seen_without_any_request_fails() -> None:
    with pytest.raises(AssertionError, match=r"but none of 0 do$"):
        Session().requests.assert_seen("Produce")


def test_a_double_shows_its_requests_after_the_stop_too() -> None:
    with KafkaDouble() as kafka:
        kafka.create_topic("orders")
        ask(kafka.bootstrap_servers, MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name="orders")]), 12)
    (seen,) = kafka.requests.assert_seen("Metadata", topic="orders", times=1)
    assert seen.answer.topics[0].name == "orders"
    assert kafka.requests.transcript() == f"{seen!r}\n"
    (found,) = json.loads(json.dumps(kafka.requests.to_json()))
    assert (found["api"], found["answer"]["topics"][0]["name"]) == ("Metadata", "orders")


def test_the_rules_that_were_applied_are_shown() -> None:
    with KafkaDouble() as kafka:
        kafka.delay("Metadata", 0.001)
        kafka.fail("Metadata", "UNKNOWN_SERVER_ERROR")
        for _ in range(2):
            ask(kafka.bootstrap_servers, MetadataRequest(topics=[]), 13)
        failed, plain = kafka.requests
    assert (failed.rules, plain.rules) == (("delay", "fail"), ())
    assert repr(failed).endswith(f"answered in {failed.took} ms (rule: delay, fail): UNKNOWN_SERVER_ERROR")


def test_a_topic_is_found_by_name_where_the_request_has_its_id() -> None:
    """Also when the topic was deleted, or when no client asked for its name."""
    with KafkaDouble() as kafka:

        def fetch(topic_id: Uuid) -> None:
            partition = FetchRequest.FetchPartition(partition=0, partition_max_bytes=1)
            topic = FetchRequest.FetchTopic(topic_id=topic_id, partitions=[partition])
            ask(kafka.bootstrap_servers, FetchRequest(topics=[topic], session_epoch=-1), 13)

        kafka.create_topic("orders")
        kafka.create_topic("bills")
        asked = MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name="orders")])
        orders = ask(kafka.bootstrap_servers, asked, 13).topics[0].topic_id
        fetch(orders)
        kafka.delete_topic("orders")
        fetch(orders)
        assert len(kafka.requests.of("Fetch", topic="orders", partition=0)) == 2
        kafka.requests.assert_seen("Fetch", topic="orders", error="UNKNOWN_TOPIC_ID", times=1)
        (bills,) = (topic.topic_id for topic in ask(kafka.bootstrap_servers, MetadataRequest(topics=None), 13).topics)
        kafka.requests.clear()
        fetch(bills)
    assert len(kafka.requests.of("Fetch", topic="bills")) == 1
