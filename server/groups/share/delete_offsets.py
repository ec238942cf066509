"""DeleteShareGroupOffsets: deletes the state of some topics of a share group without members
(KIP-932).

The group first writes that the topics are deleting, and when the share coordinator has deleted the
state, that they are gone. A deletion that did not succeed can be repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.delete_share_group_offsets import DeleteShareGroupOffsetsResponse
from kafkadouble.messages.uuid import Uuid

from ...requests.waiting import Wait
from . import records
from .deletion import delete_state
from .share_group import ShareGroup
from .state_partition_metadata import StatePartitionMetadata

if TYPE_CHECKING:
    from ...metadata.image import TopicImage
    from ..group_coordinator_shard import GroupCoordinatorShard

ResponseTopic = DeleteShareGroupOffsetsResponse.DeleteShareGroupOffsetsResponseTopic

NOTHING_TO_DELETE = "There is no offset information to delete."


def delete_offsets(shard: GroupCoordinatorShard, group_id: str, names: Sequence[str]) -> Wait[list[ResponseTopic]]:
    """Deletes the state of these topics. Raises Refusal."""
    group = shard.typed_group(group_id, ShareGroup)
    group.validate_delete_group()
    metadata = group.state_partition_metadata
    if metadata is None:
        return []
    failed: list[ResponseTopic] = []
    deleted: dict[Uuid, tuple[str, Sequence[int]]] = {}
    for name in names:
        topic = shard.node.image.topic_named(name)
        if topic is None:
            failed.append(_failed(name, None, error_codes.UNKNOWN_TOPIC_OR_PARTITION))
        elif (partitions := _partitions(metadata, topic)) is None:
            failed.append(_failed(name, None, error_codes.UNKNOWN_TOPIC_OR_PARTITION, NOTHING_TO_DELETE))
        else:
            deleted[topic.id] = name, partitions
    _note(shard, group_id, _deleting(metadata, deleted))
    yield from shard.wait_for_commit(None)
    results = yield from delete_state(shard, group_id, {id: each for id, (_, each) in deleted.items()}).wait()
    codes = {key.topic_id: error.code for key, error in results.items() if error.code}
    failed += [_failed(deleted[id][0], id, code) for id, code in codes.items()]
    done = [topic_id for topic_id in deleted if topic_id not in codes]
    if done:
        yield from _finish(shard, group_id, done)
    return [*(ResponseTopic(topic_name=deleted[id][0], topic_id=id) for id in done), *failed]


def _partitions(metadata: StatePartitionMetadata, topic: TopicImage) -> Sequence[int] | None:
    """Returns the partitions whose state is deleted; None if the group has no state of the
    topic."""
    if topic.id in metadata.initialized:
        return sorted(metadata.initialized[topic.id].partitions)
    return sorted(topic.partitions) if topic.id in metadata.deleting else None


def _deleting(
    metadata: StatePartitionMetadata, deleted: dict[Uuid, tuple[str, Sequence[int]]]
) -> StatePartitionMetadata:
    initialized = {id: value for id, value in metadata.initialized.items() if id not in deleted}
    return metadata._replace(initialized=initialized, deleting=metadata.deleting | deleted.keys())


def _finish(shard: GroupCoordinatorShard, group_id: str, topic_ids: Sequence[Uuid]) -> Wait[None]:
    """Writes that the topics are no longer deleting, and waits for the commit. Raises Refusal."""
    current = shard.coordinator.shard(group_id)
    group = current.groups.get(group_id)
    if isinstance(group, ShareGroup) and (metadata := group.state_partition_metadata) is not None:
        _note(current, group_id, metadata._replace(deleting=metadata.deleting.difference(topic_ids)))
        yield from current.wait_for_commit(None)


def _note(shard: GroupCoordinatorShard, group_id: str, metadata: StatePartitionMetadata) -> None:
    shard.write([records.state_partition_metadata_record(group_id, metadata, shard.node.image)])


def _failed(name: str, topic_id: Uuid | None, code: int, message: str | None = None) -> ResponseTopic:
    return ResponseTopic(
        topic_name=name,
        topic_id=topic_id or Uuid.ZERO,
        error_code=code,
        error_message=message or error_codes.meaning(code),
    )
