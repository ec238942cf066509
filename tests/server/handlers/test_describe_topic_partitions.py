"""DescribeTopicPartitions: order, pages, and errors, as a real Kafka 4.4.0 answers them."""

from __future__ import annotations

import pytest

from kafkadouble.messages.generated.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
)
from kafkadouble.messages.generated.partition_change_record import PartitionChangeRecord
from tests.server.harness import Harness

Place = tuple[str, int]


@pytest.fixture
def cluster() -> Harness:
    cluster = Harness()
    cluster.create("p6", partitions=6)
    cluster.create("p5", partitions=5)
    cluster.create("p1")
    return cluster


def ask(
    cluster: Harness, *names: str, limit: int = 2000, cursor: Place | None = None
) -> DescribeTopicPartitionsResponse:
    at = (
        None
        if cursor is None
        else DescribeTopicPartitionsRequest.Cursor(topic_name=cursor[0], partition_index=cursor[1])
    )
    request = DescribeTopicPartitionsRequest(
        topics=[DescribeTopicPartitionsRequest.TopicRequest(name=name) for name in names],
        response_partition_limit=limit,
        cursor=at,
    )
    response = cluster.submit(request, 0)
    assert isinstance(response, DescribeTopicPartitionsResponse)
    return response


def shown(response: DescribeTopicPartitionsResponse) -> list[tuple[str | None, list[int]]]:
    return [(topic.name, [partition.partition_index for partition in topic.partitions]) for topic in response.topics]


def next_of(response: DescribeTopicPartitionsResponse) -> Place | None:
    cursor = response.next_cursor
    return None if cursor is None else (cursor.topic_name, cursor.partition_index)


def test_eligible_leader_replicas(cluster: Harness) -> None:
    change = PartitionChangeRecord(
        partition_id=0,
        topic_id=cluster.image.topic_ids["p1"],
        eligible_leader_replicas=[2],
        last_known_elr=[3],
    )
    cluster.node.controller.commit([change])
    [partition] = ask(cluster, "p1").topics[0].partitions
    assert (list(partition.eligible_leader_replicas or ()), list(partition.last_known_elr or ())) == ([2], [3])


ALL_5, ALL_6 = list(range(5)), list(range(6))
EVERYTHING = [("p1", [0]), ("p5", ALL_5), ("p6", ALL_6)]

Page = tuple[tuple[str, ...], int, Place | None, list[tuple[str, list[int]]], Place | None]

PAGES: list[Page] = [  # topics, limit, cursor -> what is shown, the next cursor
    ((), 2000, None, EVERYTHING, None),
    (("p6", "p5", "p1"), 2000, None, EVERYTHING, None),
    (("p5", "p5"), 2000, None, [("p5", ALL_5)], None),
    (("p5", "p6"), 7, None, [("p5", ALL_5), ("p6", [0, 1])], ("p6", 2)),
    (("p5", "p6"), 5, None, [("p5", ALL_5)], ("p6", 0)),
    (("p5", "p6"), 11, None, [("p5", ALL_5), ("p6", ALL_6)], None),
    (("p5", "p6"), 0, None, [("p5", [0])], ("p5", 1)),
    (("p5", "p6"), -1, None, [("p5", [0])], ("p5", 1)),
    (("p5", "p6"), 2000, ("p5", 2), [("p5", [2, 3, 4]), ("p6", ALL_6)], None),
    (("p5", "p6"), 2000, ("p6", 2), [("p6", [2, 3, 4, 5])], None),
    (("p5",), 2, ("p5", 2), [("p5", [2, 3])], ("p5", 4)),
    (("p5",), 2000, ("p5", 5), [("p5", [])], None),
    (("p5",), 2000, ("p5", 9), [("p5", [])], None),
    ((), 2000, ("p5x", 1), [("p6", ALL_6)], None),
    ((), 3, ("p5x", 1), [("p6", [0, 1, 2])], ("p6", 3)),
    (("p5", "zzz"), 5, None, [("p5", ALL_5)], ("zzz", 0)),
    (("nope", "p5"), 5, None, [("nope", []), ("p5", ALL_5)], None),
]


@pytest.mark.parametrize(("names", "limit", "cursor", "expected", "next_cursor"), PAGES)
def test_pages(
    cluster: Harness,
    names: tuple[str, ...],
    limit: int,
    cursor: Place | None,
    expected: list[tuple[str, list[int]]],
    next_cursor: Place | None,
) -> None:
    response = ask(cluster, *names, limit=limit, cursor=cursor)
    assert shown(response) == expected
    assert next_of(response) == next_cursor


def test_describe_topic_partitions_cursor_leads_through_all_partitions(cluster: Harness) -> None:
    seen: list[Place] = []
    cursor: Place | None = None
    for _ in range(20):
        response = ask(cluster, limit=4, cursor=cursor)
        seen += [(str(name), index) for name, indexes in shown(response) for index in indexes]
        cursor = next_of(response)
        if cursor is None:
            break
    assert seen == [(name, index) for name, indexes in EVERYTHING for index in indexes]


def test_the_limit_of_the_broker() -> None:
    cluster = Harness({"max.request.partition.size.limit": 3})
    cluster.create("t", partitions=5)
    assert next_of(ask(cluster, "t")) == ("t", 3)
