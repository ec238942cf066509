"""Requests about offsets and groups in one line each, for the tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafkadouble.messages.generated.delete_groups import DeleteGroupsRequest
from kafkadouble.messages.generated.describe_groups import DescribeGroupsRequest
from kafkadouble.messages.generated.list_groups import ListGroupsRequest
from kafkadouble.messages.generated.offset_commit import OffsetCommitRequest
from kafkadouble.messages.generated.offset_delete import OffsetDeleteRequest
from kafkadouble.messages.generated.offset_fetch import OffsetFetchRequest
from kafkadouble.messages.uuid import Uuid

from .bench import GROUP, Bench

Offsets = dict[int, int]


def commit_request(
    topics: dict[str | Uuid, Offsets],
    group: str = GROUP,
    *,
    member: str = "",
    generation: int = -1,
    instance: str | None = None,
    epoch: int = -1,
    note: str | None = "",
    retention: int = -1,
) -> OffsetCommitRequest:
    """An OffsetCommit of topic (name, or id from version 10) -> partition -> offset."""
    partition = OffsetCommitRequest.OffsetCommitRequestPartition
    return OffsetCommitRequest(
        group_id=group,
        member_id=member,
        generation_id_or_member_epoch=generation,
        group_instance_id=instance,
        retention_time_ms=retention,
        topics=[
            OffsetCommitRequest.OffsetCommitRequestTopic(
                **named(topic),
                partitions=[
                    partition(
                        partition_index=index,
                        committed_offset=offset,
                        committed_leader_epoch=epoch,
                        committed_metadata=note,
                    )
                    for index, offset in offsets.items()
                ],
            )
            for topic, offsets in topics.items()
        ],
    )


def named(topic: str | Uuid) -> dict[str, Any]:
    return {"topic_id": topic} if isinstance(topic, Uuid) else {"name": topic}


def commit(bench: Bench, topics: dict[str | Uuid, Offsets], group: str = GROUP, version: int = 9, **how: Any) -> Any:
    answer = bench.ask(commit_request(topics, group, **how), version)
    return {
        (topic.topic_id if version >= 10 else topic.name, each.partition_index): each.error_code
        for topic in answer.topics
        for each in topic.partitions
    }


def fetch_request(
    requested: dict[str, dict[str | Uuid, Sequence[int]] | None], *, require_stable: bool = False
) -> OffsetFetchRequest:
    """An OffsetFetch, from version 8 on, of group -> topic -> partitions, or None for all."""
    topic = OffsetFetchRequest.OffsetFetchRequestTopics
    return OffsetFetchRequest(
        require_stable=require_stable,
        groups=[
            OffsetFetchRequest.OffsetFetchRequestGroup(
                group_id=group,
                topics=None
                if topics is None
                else [topic(**named(name), partition_indexes=indexes) for name, indexes in topics.items()],
            )
            for group, topics in requested.items()
        ],
    )


def fetched(bench: Bench, group: str = GROUP, topics: Any = None, version: int = 9, **how: Any) -> dict[Any, Any]:
    """(topic, partition) -> (offset, leader epoch, metadata, code) of one group."""
    (answer,) = bench.ask(fetch_request({group: topics}, **how), version).groups
    assert answer.error_code == 0, answer
    return {
        (topic.topic_id if version >= 10 else topic.name, each.partition_index): (
            each.committed_offset,
            each.committed_leader_epoch,
            each.metadata,
            each.error_code,
        )
        for topic in answer.topics
        for each in topic.partitions
    }


def delete_offsets(bench: Bench, topics: dict[str, Sequence[int]], group: str = GROUP) -> Any:
    """The code of the request, and the codes by (topic, partition)."""
    partition = OffsetDeleteRequest.OffsetDeleteRequestPartition
    body = OffsetDeleteRequest(
        group_id=group,
        topics=[
            OffsetDeleteRequest.OffsetDeleteRequestTopic(
                name=name, partitions=[partition(partition_index=index) for index in indexes]
            )
            for name, indexes in topics.items()
        ],
    )
    answer = bench.ask(body)
    codes = {(t.name, p.partition_index): p.error_code for t in answer.topics for p in t.partitions}
    return answer.error_code, codes


def delete_groups(bench: Bench, *groups: str) -> dict[str, int]:
    return {each.group_id: each.error_code for each in bench.ask(DeleteGroupsRequest(groups_names=groups)).results}


def describe(bench: Bench, *groups: str, version: int = 6) -> list[Any]:
    return list(bench.ask(DescribeGroupsRequest(groups=groups), version).groups)


def listed(bench: Bench, states: Sequence[str] = (), types: Sequence[str] = (), version: int = 5) -> dict[str, Any]:
    """Group id -> what is listed of it."""
    answer = bench.ask(ListGroupsRequest(states_filter=states, types_filter=types), version)
    assert answer.error_code == 0
    return {group.group_id: group for group in answer.groups}
