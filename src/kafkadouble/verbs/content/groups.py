"""The methods of KafkaDouble about groups."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING

from kafkadouble.common.marking import verb
from kafkadouble.common.on_first_use import OnFirstUse
from kafkadouble.coordinators.groups import groups as groups_at
from kafkadouble.topics.partition_state import log_bounds_in_steps

if TYPE_CHECKING:
    from kafkadouble.coordinators import group_upkeep
    from kafkadouble.coordinators.group_values import Committed, Group, TopicPartition
    from kafkadouble.host.host import Host
    from kafkadouble.topics import placement
else:  # a first call of another verb waits for none of them
    group_upkeep = OnFirstUse("kafkadouble.coordinators.group_upkeep")
    placement = OnFirstUse("kafkadouble.topics.placement")


@verb
def groups(host: Host) -> dict[str, Group]:
    """The groups, by id: their state, members, committed offsets and lag."""
    broker = host.serving().broker
    members = host.call(lambda: broker.members)
    bounds = partial(log_bounds_in_steps, host.call, broker)
    return {id: group for at in members for id, group in groups_at(partial(host.ask, at=at), bounds).items()}


@verb
def move_coordinator(host: Host, group: str, to: int) -> int:
    """Makes another broker the coordinator of a group: the leader of the group's partition of
    __consumer_offsets. Returns the index of that partition."""
    return host.call(placement.move_coordinator, host.serving().broker, group, to)


@verb
def commit_offsets(host: Host, group: str, offsets: Mapping[TopicPartition, int | Committed]) -> None:
    """Commits offsets for a group, which need not exist, as an admin client does. `offsets` are
    by topic and partition: `{("orders", 0): 5}`, or those of a group in `groups()`.

    Raises KafkaError: UNKNOWN_MEMBER_ID for a group with members, UNKNOWN_TOPIC_OR_PARTITION.
    """
    running = host.serving()
    running.thread.run(group_upkeep.commit(running.broker, group, offsets))


@verb
def reset_offsets(
    host: Host, group: str, topic: str, to: str | int, partition: int | None = None
) -> dict[TopicPartition, int]:
    """Commits other offsets for a group: with `to="earliest"` the first offset of each
    partition, with "latest" its end offset, or one given offset; if the log does not have it,
    the nearest one. Returns the committed offsets. As for `kafka-consumer-groups
    --reset-offsets`, the group must have no members.

    Raises KafkaError as `commit_offsets`.
    """
    running = host.serving()
    return running.thread.run(group_upkeep.reset(running.broker, group, topic, to, partition))


@verb
def delete_group(host: Host, group: str) -> None:
    """Deletes a group and its offsets. Raises KafkaError: NON_EMPTY_GROUP if it has members,
    GROUP_ID_NOT_FOUND."""
    running = host.serving()
    running.thread.run(group_upkeep.delete(running.broker, group))


@verb
def expire_member(host: Host, group: str, member_id: str) -> None:
    """Removes a member from a group at once, as the end of its session does: the others
    rebalance, and its next request is answered with UNKNOWN_MEMBER_ID. `member_id` may be the
    instance id of a static member. `groups()` has the members.

    Raises KafkaError: GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID.
    """
    running = host.serving()
    running.thread.run(group_upkeep.expire_member(running.broker, group, member_id))


@verb
def rebalance(host: Host, group: str) -> None:
    """Lets a group with members rebalance, as if one had joined. Members notice it with their
    next heartbeat.

    Raises KafkaError: GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID for a group without members.
    """
    running = host.serving()
    running.thread.run(group_upkeep.rebalance(running.broker, group))


@verb
def set_assignment(host: Host, group: str, assignment: Mapping[str, Collection[TopicPartition]]) -> None:
    """Assigns partitions to the members of a consumer group or a share group by hand, instead
    of the coordinator. `assignment` has (topic, partition) pairs by member id, or by the
    instance id of a static member; any other member gets none. It holds until the group
    rebalances again; members reconcile with it as with any other.

    Raises KafkaError: GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID, UNKNOWN_TOPIC_OR_PARTITION,
    INVALID_REQUEST for a classic group, whose leader assigns, and for a streams group.
    """
    running = host.serving()
    running.thread.run(group_upkeep.set_assignment(running.broker, group, assignment))
