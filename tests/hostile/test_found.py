"""What the fuzz found, and what an attacker would try next: each once, small, by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafkadouble.messages import error_codes, headers
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.describe_configs import DescribeConfigsRequest
from kafkadouble.messages.generated.describe_groups import DescribeGroupsRequest
from kafkadouble.messages.generated.describe_producers import DescribeProducersRequest
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.offset_commit import OffsetCommitRequest
from kafkadouble.messages.generated.offset_fetch import OffsetFetchRequest
from kafkadouble.messages.generated.request_header import RequestHeader
from kafkadouble.messages.message import Message
from kafkadouble.server.network.connection import TURN
from kafkadouble.server.requests import repeats
from kafkadouble.server.requests.bounds import MOST_ELEMENTS
from kafkadouble.wire.batch import decode_all

from .stage import GOOD, Good, Stage, logged

BROKER, MB = 4, 1 << 20


@pytest.fixture
def stage() -> Iterator[Stage]:
    with logged() as log:
        yield Stage(log, seed=1)


@pytest.fixture
def good(stage: Stage) -> Good:
    return Good(stage)


def test_a_retention_without_end_wraps_round_as_in_java(good: Good) -> None:
    partition = OffsetCommitRequest.OffsetCommitRequestPartition(partition_index=0, committed_offset=5)
    topic = OffsetCommitRequest.OffsetCommitRequestTopic(name=GOOD, partitions=[partition])
    request = OffsetCommitRequest(group_id="by hand", retention_time_ms=2**63 - 1, topics=[topic])
    answer = good.ask(request, 4)
    assert answer.topics[0].partitions[0].error_code == 0


def test_error_message_that_quotes_long_configs_is_cut(good: Good) -> None:
    config = CreateTopicsRequest.CreatableTopicConfig
    configs = [config(name="x" * 30_000, value=None), config(name="y" * 30_000, value=None)]
    topic = CreateTopicsRequest.CreatableTopic(name="t", num_partitions=1, replication_factor=1, configs=configs)
    (result,) = good.ask(CreateTopicsRequest(topics=[topic], timeout_ms=1000), 7).topics
    assert result.error_code == error_codes.INVALID_CONFIG
    assert result.error_message.endswith("xxx...") or result.error_message.endswith("yyy...")


def test_a_flood_of_elements_ends_the_connection(stage: Stage) -> None:
    count = MOST_ELEMENTS + 50_000
    topics = [MetadataRequest.MetadataRequestTopic(name="")] * count
    hostile = stage.hostile()
    hostile.connection.receive(b"".join(headers.write_request(MetadataRequest(topics=topics), 1, "evil", 1)), stage.now)
    stage.settle()
    (line,) = [record.getMessage() for record in stage.log.taken()]
    assert (
        line
        == f"{hostile.peer!r} (client 'evil') sent a request Metadata version 1 of more than 50000 elements: closing"
    )


def with_header_tags(body: Message, version: int, tags: int) -> bytes:
    """A frame whose request header has so many tagged fields without bytes."""
    header = RequestHeader(
        request_api_key=body.api_key or 0,
        request_api_version=version,
        client_id="evil",
        unknown_tagged_fields=dict.fromkeys(range(tags), b""),
    )
    frame = header.encode(2) + body.encode(version)
    return len(frame).to_bytes(4) + frame


@pytest.mark.parametrize(
    ("tags", "topics", "taken"),
    [
        (MOST_ELEMENTS, 0, True),
        (MOST_ELEMENTS + 1, 0, False),
        (30_000, MOST_ELEMENTS - 30_001, True),
        (30_000, MOST_ELEMENTS - 29_999, False),
    ],
)
def test_header_and_body_share_one_limit_of_elements(stage: Stage, tags: int, topics: int, taken: bool) -> None:
    named = [MetadataRequest.MetadataRequestTopic(name="")] * topics
    hostile = stage.hostile()
    body = MetadataRequest(topics=named, allow_auto_topic_creation=False)
    assert hostile.send(with_header_tags(body, 9, tags)) == taken


def test_tags_of_a_header_are_refused_before_any_is_read(stage: Stage) -> None:
    """The section announces four billion fields, and the first of them cannot be read."""
    frame = bytes.fromhex("0003 0009 00000001 ffff ffffffff0f ffffffffff")
    hostile = stage.hostile()
    hostile.connection.receive(len(frame).to_bytes(4) + frame, stage.now)
    (line,) = [record.getMessage() for record in stage.log.taken()]
    assert "4294967295 tagged fields where 50000 are allowed" in line


def test_requests_sent_ahead_are_answered_in_turns(stage: Stage) -> None:
    hostile = stage.hostile()
    hostile.line.written = []
    one = b"".join(headers.write_request(MetadataRequest(topics=[]), 1, "evil", 1))
    hostile.connection.receive(one * 50, stage.now)
    assert (len(hostile.line.written), hostile.line.goes_on, hostile.line.reads) == (TURN, True, False)
    while hostile.line.goes_on:
        hostile.line.goes_on = False
        hostile.connection.pump(stage.now)
    assert (len(hostile.line.written), hostile.line.reads) == (50, True)
    assert stage.node.intake.total == 0


def codes(answers: Any) -> list[int]:
    return [answer.error_code for answer in answers]


def test_repeated_items_of_a_request_are_not_answered_without_end(good: Good, monkeypatch: pytest.MonkeyPatch) -> None:
    groups = DescribeGroupsRequest(groups=[GOOD] * 3)
    assert codes(good.ask(groups, 5).groups) == [0, 0, 0]
    monkeypatch.setattr(repeats, "MOST_BYTES", 0)
    again = error_codes.INVALID_REQUEST
    assert codes(good.ask(groups, 5).groups) == [0, again, again]
    topic = DescribeProducersRequest.TopicRequest(name=GOOD, partition_indexes=[0, 0])
    assert codes(good.ask(DescribeProducersRequest(topics=[topic, topic]), 0).topics[0].partitions) == [0, again]
    named_topic = OffsetFetchRequest.OffsetFetchRequestTopics(name=GOOD, partition_indexes=[0, 0])
    named = OffsetFetchRequest.OffsetFetchRequestGroup(group_id="g", topics=[named_topic, named_topic])
    whole = OffsetFetchRequest.OffsetFetchRequestGroup(group_id="g", topics=None)
    found = good.ask(OffsetFetchRequest(groups=[named, whole, whole]), 8).groups
    assert codes(found) == [0, 0, again]
    assert [codes(topic.partitions) for topic in found[0].topics] == [[0, again], [again, again]]


def resources(count: int, kind: int, name: str) -> DescribeConfigsRequest:
    one = DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=None
    )
    return DescribeConfigsRequest(resources=[one] * count)


def test_many_configurations_are_described_in_turns_and_not_without_end(
    stage: Stage, good: Good, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repeats, "MOST_BYTES", 400_000)
    hostile = stage.hostile()
    hostile.line.written = []
    data = b"".join(headers.write_request(resources(30, BROKER, "1"), 1, "evil", 4))
    hostile.connection.receive(data, stage.now)
    assert hostile.line.written == []
    turns = 0
    while not hostile.line.written:
        good.ask(MetadataRequest(topics=[]), 1)
        stage.node.tick(stage.now)
        turns += 1
    answer: Any = headers.read_response(hostile.line.written[0][4:], ApiKeys.DESCRIBE_CONFIGS, 4)[1]
    described = codes(answer.results)
    assert described[:5] == [0] * 5
    assert described[-5:] == [error_codes.INVALID_REQUEST] * 5
    assert turns > 1


def test_unread_answers_of_peers_bound_the_size_of_a_fetch(stage: Stage, good: Good) -> None:
    for _ in range(3):
        good.works()
    everything = FetchRequest(
        max_bytes=MB,
        session_epoch=-1,
        topics=[FetchRequest.FetchTopic(topic=GOOD, partitions=[FetchRequest.FetchPartition(partition_max_bytes=MB)])],
    )

    def records() -> int:
        return len(decode_all(bytes(good.ask(everything, 11).responses[0].partitions[0].records)))

    assert records() == 3
    slow = stage.hostile()
    slow.connection.choke(stage.node.intake.limit)
    assert records() == 1
    slow.leave()
    assert stage.node.unsent == 0
    assert records() == 3


def test_the_history_weighs_what_a_large_request_may_take(stage: Stage, good: Good) -> None:
    names = [MetadataRequest.MetadataRequestTopic(name="")] * 40_000
    for _ in range(10):
        good.ask(MetadataRequest(topics=names, allow_auto_topic_creation=False), 4)
    history = stage.node.history
    assert history is not None
    assert sum(len(seen.body.topics) for seen in history if seen.api == "Metadata") < 150_000


def test_topics_of_less_than_no_partitions_do_not_make_room_for_others(good: Good) -> None:
    of = CreateTopicsRequest.CreatableTopic
    topics = [of(name="many", num_partitions=10**9, replication_factor=1)]
    topics += [of(name=f"less {number}", num_partitions=-(2**31), replication_factor=1) for number in range(2)]
    answer = good.ask(CreateTopicsRequest(topics=topics, timeout_ms=1000), 7)
    assert codes(answer.topics) == [error_codes.POLICY_VIOLATION] * 3
    good.works()
