"""Gives the partitions of a share group's topics a state at the share coordinator (KIP-932).

The group first writes which partitions are initializing, and sends the requests when that is
committed. When all have succeeded, it writes that the partitions are initialized; the next
heartbeat then assigns them. If one fails, all of them stop being initializing, and the next
heartbeat begins again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.client_log import ClientLog

from ...coordinator.response_future import ResponseFuture
from ...requests.request import Refusal
from . import records
from .persister_calls import StateError, call_for_each
from .share_group import ShareGroup
from .state_partition_metadata import InitMap, StatePartitionMetadata, with_init_values

if TYPE_CHECKING:
    from ...share.persister import SharePartitionKey
    from ..group_coordinator_shard import GroupCoordinatorShard

FROM_THE_START, FROM_THE_FIRST_FETCH = 0, -1
"""The start offset of a partition that was added to a topic which the group reads already, and of
the partitions of another topic: the first fetch applies `share.auto.offset.reset`."""

log = ClientLog("kafkadouble.server.groups")


class Initialization(NamedTuple):
    """A partition that gets a state."""

    topic_id: Uuid
    partition: int
    state_epoch: int
    start_offset: int


def initializations_of(topics: InitMap, known: Collection[Uuid], state_epoch: int) -> list[Initialization]:
    """Returns what to send for these partitions; `known` are the topics that the group reads
    already."""
    return [
        Initialization(topic_id, partition, state_epoch, FROM_THE_START if topic_id in known else FROM_THE_FIRST_FETCH)
        for topic_id, value in topics.items()
        for partition in sorted(value.partitions)
    ]


def initialize_later(shard: GroupCoordinatorShard, group_id: str, initializations: list[Initialization]) -> None:
    """Sends the requests when everything written so far is committed."""
    if initializations:
        shard.after_commit(partial(_initialize, shard, group_id, initializations))


def _initialize(shard: GroupCoordinatorShard, group_id: str, initializations: list[Initialization], code: int) -> None:
    if not code:
        results = send(shard, group_id, initializations)
        results.when_complete(partial(finish, shard, group_id))


def send(
    shard: GroupCoordinatorShard, group_id: str, initializations: Iterable[Initialization]
) -> ResponseFuture[dict[SharePartitionKey, StateError]]:
    """Sends the requests; the future has the errors."""
    from ...share.persister import SharePartitionKey

    initialize = shard.node.persister.initialize_state
    keys = {each: SharePartitionKey(group_id, each.topic_id, each.partition) for each in initializations}
    return call_for_each(
        [(key, partial(initialize, key, each.state_epoch, each.start_offset)) for each, key in keys.items()],
        StateError,
    )


def finish(shard: GroupCoordinatorShard, group_id: str, results: dict[SharePartitionKey, StateError]) -> None:
    """Writes that the partitions are initialized or, if one failed, that they are not."""
    failed = next((error for error in results.values() if error.code), None)
    if failed is not None:
        log.error("share group %s: partitions have no state: error %s: %s", group_id, failed.code, failed.message)
    partitions: dict[Uuid, set[int]] = {}
    for key in results:
        partitions.setdefault(key.topic_id, set()).add(key.partition)
    try:
        # The shard of this moment: the group may have moved to another broker and back.
        current = shard.coordinator.shard(group_id)
        _write(current, group_id, partitions, is_initialized=failed is None)
    except Refusal as refusal:
        log.error("share group %s: the state of its partitions was not noted: error %s", group_id, refusal.code)


def _write(
    shard: GroupCoordinatorShard, group_id: str, partitions: dict[Uuid, set[int]], *, is_initialized: bool
) -> None:
    group = shard.groups.get(group_id)
    if not isinstance(group, ShareGroup):  # it was deleted meanwhile
        return
    image, before = shard.node.image, group.state_partition_metadata or StatePartitionMetadata()
    if is_initialized:
        after = before.with_initialized(with_init_values(partitions, image, shard.now))
    elif before.initializing:
        after = before.without_initializing(partitions)
    else:
        return
    shard.write([records.state_partition_metadata_record(group_id, after, image)])
