"""DescribeShareGroupOffsets: where a share group is in its topics, and its lag (KIP-932, KIP-1226).

The start offsets are at the share coordinator, the end offsets at the leaders of the partitions.
The lag is the number of records from the start offset on that still need delivery; -1 if the start
offset, or the number of records that need none, is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsResponse,
)

from ...metadata.image import TopicImage
from ...requests.request import Refusal
from ...requests.waiting import OTHERS_FIRST, Slices, Wait, sliced
from ...share.partition_metadata_client import OffsetResponse
from ...share.persister import (
    UNINITIALIZED_DELIVERY_COMPLETE_COUNT,
    UNINITIALIZED_START_OFFSET,
    ReadStateSummaryResult,
    SharePartitionKey,
)
from .persister_calls import called_for_each
from .share_group import ShareGroup

if TYPE_CHECKING:
    from ..group_coordinator_shard import GroupCoordinatorShard
    from ..host import GroupHost

ResponseGroup = DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponseGroup
ResponseTopic = DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponseTopic
ResponsePartition = DescribeShareGroupOffsetsResponse.DescribeShareGroupOffsetsResponsePartition
RequestTopic = DescribeShareGroupOffsetsRequest.DescribeShareGroupOffsetsRequestTopic

NO_LEADER_EPOCH = 0
"""Of a request for a summary, which fences no leader."""

UNKNOWN_LAG = -1

Summaries = Mapping[SharePartitionKey, ReadStateSummaryResult]
EndOffsets = Mapping[SharePartitionKey, OffsetResponse]


def describe_all_offsets(shard: GroupCoordinatorShard, group_id: str) -> Wait[ResponseGroup]:
    """Describes every share partition that is initialized. A group that does not exist has none."""
    group, image = shard.groups.get(group_id), shard.node.image
    metadata = group.state_partition_metadata if isinstance(group, ShareGroup) else None
    initialized = {} if metadata is None else metadata.initialized
    found = yield from sliced(lambda id: (image.topic(id), sorted(initialized[id].partitions)), initialized)
    topics = [(topic, partitions) for topic, partitions in found if topic is not None]
    return (yield from _describe(shard.node, group_id, topics, ()))


def describe_offsets(node: GroupHost, group_id: str, topics: Iterable[RequestTopic]) -> Wait[ResponseGroup]:
    """Describes these partitions. It takes no coordinator of the group. Raises Refusal."""
    known: list[tuple[TopicImage, Sequence[int]]] = []
    unknown: list[ResponseTopic] = []
    slices = Slices()
    for requested in topics:
        if slices.end(1 + len(requested.partitions)):
            yield OTHERS_FIRST
        topic = node.image.topic_named(requested.topic_name)
        if topic is not None:
            # What Kafka's persister does not expect.
            if not group_id or not requested.partitions or min(requested.partitions) < 0:
                raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
            known.append((topic, requested.partitions))
        else:
            partitions = yield from sliced(_no_offset, requested.partitions)
            unknown.append(ResponseTopic(topic_name=requested.topic_name, partitions=partitions))
    return (yield from _describe(node, group_id, known, unknown))


def _no_offset(index: int) -> ResponsePartition:
    return ResponsePartition(partition_index=index, start_offset=UNINITIALIZED_START_OFFSET)


def _describe(
    node: GroupHost,
    group_id: str,
    topics: Sequence[tuple[TopicImage, Sequence[int]]],
    unknown: Iterable[ResponseTopic],
) -> Wait[ResponseGroup]:
    names: dict[SharePartitionKey, str] = {}
    keys: list[list[SharePartitionKey]] = []
    for topic, indexes in topics:
        made = partial(SharePartitionKey, group_id, topic.id)
        keys.append((yield from sliced(made, dict.fromkeys(indexes))))
        names |= dict.fromkeys(keys[-1], topic.name)
    summaries: Summaries = yield from _all_results(
        (key, partial(node.persister.read_summary, key, NO_LEADER_EPOCH)) for key in names
    )
    latest = node.partition_metadata_client.latest_offset
    ends: EndOffsets = yield from _all_results(
        (key, partial(latest, names[key], key.partition)) for key, summary in summaries.items() if _has_lag(summary)
    )
    described = []
    for (topic, _), each in zip(topics, keys, strict=True):
        partitions = yield from sliced(lambda key: _partition(key, summaries, ends), each)
        described.append(ResponseTopic(topic_name=topic.name, topic_id=topic.id, partitions=partitions))
    return ResponseGroup(group_id=group_id, topics=[*described, *unknown])


def _all_results(calls: Iterable[tuple[SharePartitionKey, Callable[..., None]]]) -> Wait[dict[SharePartitionKey, Any]]:
    future = yield from called_for_each(calls, _itself)
    return (yield from future.wait())


def _itself(result: Any) -> Any:
    return result


def _has_lag(summary: ReadStateSummaryResult) -> bool:
    return (
        not summary.error_code
        and summary.start_offset != UNINITIALIZED_START_OFFSET
        and summary.delivery_complete_count != UNINITIALIZED_DELIVERY_COMPLETE_COUNT
    )


def _partition(key: SharePartitionKey, summaries: Summaries, ends: EndOffsets) -> ResponsePartition:
    summary, end = summaries[key], ends.get(key)
    if end is not None and end.error_code:
        message = error_codes.meaning(end.error_code)
        return ResponsePartition(partition_index=key.partition, error_code=end.error_code, error_message=message)
    failed = summary.error_code
    lag = UNKNOWN_LAG if end is None else end.offset - summary.start_offset - summary.delivery_complete_count
    return ResponsePartition(
        partition_index=key.partition,
        start_offset=UNINITIALIZED_START_OFFSET if failed else summary.start_offset,
        leader_epoch=0 if failed else summary.leader_epoch,
        lag=lag,
    )
