"""Deletes share groups with their state, and what share groups have of deleted topics (KIP-932).

The state is at the share coordinator, so it is deleted first: the group writes that its topics are
deleting, and has its tombstones only when every share partition is deleted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import partial
from typing import TYPE_CHECKING

from kafkadouble.messages.uuid import Uuid

from ...coordinator.coordinator_record import CoordinatorRecord
from ...coordinator.response_future import ResponseFuture
from ...requests.request import Refusal
from ...requests.waiting import Wait
from . import records
from .persister_calls import StateError, call_for_each
from .share_group import ShareGroup
from .state_partition_metadata import NO_TIMESTAMP, InitMap, InitMapValue, TopicPartitions, combine_init_maps

if TYPE_CHECKING:
    from ...metadata.image import Image
    from ...share.persister import SharePartitionKey
    from ..group_coordinator_shard import GroupCoordinatorShard


def delete_share_groups_state(shard: GroupCoordinatorShard, group_ids: Iterable[str]) -> Wait[dict[str, int]]:
    """Deletes the state of those groups that are share groups without members. Returns group id ->
    error code of the share groups that must stay. Raises Refusal."""
    codes: dict[str, int] = {}
    written: list[CoordinatorRecord] = []
    deleted: dict[str, InitMap] = {}
    for group_id in group_ids:
        group = shard.groups.get(group_id)
        if not isinstance(group, ShareGroup):
            continue
        try:
            group.validate_delete_group()
        except Refusal as refusal:
            codes[group_id] = refusal.code
            continue
        if group.state_partition_metadata is not None:
            deleted[group_id] = _all_topics(group, shard.node.image)
            written.append(records.deleting_record(group_id, deleted[group_id]))
    shard.write(written)
    yield from shard.wait_for_commit(None)
    futures = {id: delete_state(shard, id, _partitions(topics)) for id, topics in deleted.items()}
    for group_id, future in futures.items():
        results = yield from future.wait()
        if code := next((error.code for error in results.values() if error.code), 0):
            codes[group_id] = code
    return codes


def _all_topics(group: ShareGroup, image: Image) -> InitMap:
    """Returns all partitions of which the group may have a state, also those of a deletion that did
    not succeed."""
    metadata = group.state_partition_metadata
    assert metadata is not None
    again = {
        topic.id: InitMapValue(topic.name, frozenset(topic.partitions), NO_TIMESTAMP)
        for topic_id in metadata.deleting
        if (topic := image.topic(topic_id)) is not None
    }
    return combine_init_maps(combine_init_maps(metadata.initialized, metadata.initializing), again)


def _partitions(topics: InitMap) -> TopicPartitions:
    return {topic_id: value.partitions for topic_id, value in topics.items()}


def delete_state(
    shard: GroupCoordinatorShard, group_id: str, partitions: TopicPartitions
) -> ResponseFuture[dict[SharePartitionKey, StateError]]:
    """Deletes the state of share partitions; the future has the errors."""
    from ...share.persister import SharePartitionKey

    keys = [SharePartitionKey(group_id, id, index) for id, indexes in partitions.items() for index in sorted(indexes)]
    return call_for_each([(key, partial(shard.node.persister.delete_state, key)) for key in keys], StateError)


def delete_topics_of_share_groups(shard: GroupCoordinatorShard, topic_ids: Collection[Uuid]) -> None:
    """Forgets deleted topics. The share coordinator deletes their state itself."""
    shard.write_in_batches(
        [
            records.state_partition_metadata_record(
                group.group_id, metadata.without_topics(topic_ids), shard.node.image
            )
            for group in shard.groups.values()
            if isinstance(group, ShareGroup)
            and (metadata := group.state_partition_metadata) is not None
            and metadata.has_any(topic_ids)
        ]
    )
