"""Which answers are the same, and how a difference is shown."""

from __future__ import annotations

import pytest

from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.generated.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from kafkadouble.messages.generated.metadata import MetadataRequest, MetadataResponse
from kafkadouble.messages.message import Message
from kafkadouble.replay.comparison.answer_comparison import ABSENT, AnswerComparison, FieldDifference
from kafkadouble.replay.comparison.field_rules import ID_KINDS, MAY_DIFFER, NAMING, UNORDERED, _answer_fields
from kafkadouble.replay.comparison.id_translation import IdTranslation
from kafkadouble.replay.retrying import asks_to_retry, was_early
from kafkadouble.wire.batch import encode_batch
from kafkadouble.wire.record import Record
from tests.support.recorded_sessions import exchange

Broker, Topic = MetadataResponse.MetadataResponseBroker, MetadataResponse.MetadataResponseTopic
Partition = MetadataResponse.MetadataResponsePartition
NODES = {1: 11, 2: 12, 3: 13}


def differences(request: Message, recorded: Message, found: Message, version: int) -> list[FieldDifference]:
    made = exchange(request, recorded, version)
    return AnswerComparison(IdTranslation(NODES)).differences(made, made.answer(), found)


def cluster(nodes: list[int], isr: list[int], leader: int, *names: str) -> MetadataResponse:
    partition = Partition(partition_index=0, leader_id=leader, replica_nodes=nodes, isr_nodes=isr)
    return MetadataResponse(
        brokers=[Broker(node_id=node, host=f"host-{node}", port=node) for node in nodes],
        topics=[Topic(name=name, partitions=[partition]) for name in names],
        cluster_id=str(nodes),
        throttle_time_ms=leader,
    )


def test_nodes_hosts_and_orders_may_differ() -> None:
    recorded, found = cluster([1, 2, 3], [1, 2], 1, "a", "b"), cluster([11, 12, 13], [12, 11], 11, "b", "a")
    assert differences(MetadataRequest(topics=None), recorded, found, 12) == []


def test_another_leader_is_shown_with_its_path() -> None:
    recorded, found = cluster([1, 2, 3], [1, 2], 1, "a"), cluster([11, 12, 13], [11, 12], 12, "a")
    (difference,) = differences(MetadataRequest(topics=None), recorded, found, 12)
    assert difference == ("topics[0].partitions[0].leaderId", "1", "12")


def test_elements_of_only_one_response_are_differences() -> None:
    recorded, found = cluster([1], [1], 1, "a", "b"), cluster([11], [11], 11, "b", "c")
    missing, more = differences(MetadataRequest(topics=None), recorded, found, 12)
    assert missing == ("topics[0]", "name='a'", ABSENT)
    assert more == ("topics", ABSENT, "name='c'")


def fetched(records: bytes | None, high_watermark: int = 5) -> FetchResponse:
    partition = FetchResponse.PartitionData(partition_index=0, high_watermark=high_watermark, records=records)
    return FetchResponse(responses=[FetchResponse.FetchableTopicResponse(topic="t", partitions=[partition])])


def batch(*values: bytes | None, compression: int = 0) -> bytes:
    records = [Record(offset, 1, None, value) for offset, value in enumerate(values)]
    return bytes(encode_batch(records, compression=compression))


def test_records_are_compared_by_offset() -> None:
    """Batches may be compressed, and there may be more of them."""
    recorded = fetched(batch(b"a", b"b"))
    assert differences(FetchRequest(), recorded, fetched(batch(b"a", b"b", b"c", compression=1), 6), 12) == []
    (other,) = differences(FetchRequest(), recorded, fetched(batch(b"a", b"x")), 12)
    assert (other.path, other.found) == ("responses[0].partitions[0].records", "Record(1 at 1: None -> b'x')")
    (missing,) = differences(FetchRequest(), recorded, fetched(batch(b"a")), 12)
    assert missing.found == "no record at offset 1"
    both = differences(FetchRequest(), recorded, fetched(None), 12)
    assert [each.found for each in both] == ["no record at offset 0", "no record at offset 1"]


def test_bytes_that_are_no_batches_are_compared_as_bytes() -> None:
    damaged = batch(b"a")[:-1] + b"?"
    assert differences(FetchRequest(), fetched(damaged), fetched(damaged), 12) == []
    (difference,) = differences(FetchRequest(), fetched(batch(b"a")), fetched(damaged), 12)
    assert difference.found.startswith("bytes that cannot be read: ")


def test_differences_of_responses_name_error_codes() -> None:
    (difference,) = differences(HeartbeatRequest(), HeartbeatResponse(), HeartbeatResponse(error_code=25), 3)
    assert difference == ("errorCode", "NONE", "UNKNOWN_MEMBER_ID")


@pytest.mark.parametrize(
    ("recorded", "found", "early", "again"),
    [
        (0, 16, False, True),
        (16, 0, True, False),
        (27, 0, True, False),
        (0, 27, True, False),
        (0, 25, False, False),
        (25, 0, False, False),
    ],
)
def test_fields_that_depend_on_the_moment_are_not_compared(recorded: int, found: int, early: bool, again: bool) -> None:
    ours, theirs = HeartbeatResponse(error_code=recorded), HeartbeatResponse(error_code=found)
    made = exchange(HeartbeatRequest(), ours, 3)
    assert (was_early(ours, theirs), asks_to_retry(made, ours, theirs)) == (early, again)


def test_a_field_of_one_api_can_be_ignored() -> None:
    partition = ListOffsetsResponse.ListOffsetsPartitionResponse
    answers = [
        ListOffsetsResponse(
            topics=[ListOffsetsResponse.ListOffsetsTopicResponse(name="t", partitions=[partition(offset=offset)])]
        )
        for offset in (1, 2)
    ]
    made = exchange(ListOffsetsRequest(), answers[0], 7)
    for name, count in (("ListOffsets.offset", 0), ("offset", 0), ("Fetch.offset", 1)):
        comparison = AnswerComparison(IdTranslation({}), frozenset((name,)))
        assert len(comparison.differences(made, made.answer(), answers[1])) == count


def test_every_name_in_the_tables_is_a_field() -> None:
    """A name with a fault in it would have no effect."""
    known = {name for api, field in _answer_fields() for name in (field.kafka_name, f"{api}.{field.kafka_name}")}
    of_requests = {"BrokerIds", "V3AndBelowProducerId"}
    of_apis_to_come = {"SaslAuthenticate.AuthBytes"}
    assert {*ID_KINDS, *MAY_DIFFER, *NAMING, *UNORDERED} - known <= of_requests | of_apis_to_come
