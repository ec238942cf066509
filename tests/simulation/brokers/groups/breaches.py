"""Faulty variants of parts of consumer groups, for the mutations: each breaks one rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from kafkadouble.messages.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse
from kafkadouble.messages.generated.consumer_group_metadata_record import ConsumerGroupMetadataKey
from kafkadouble.messages.generated.consumer_group_target_assignment_member_record import (
    ConsumerGroupTargetAssignmentMemberKey,
)
from kafkadouble.server.coordinator.coordinator_record import CoordinatorRecord
from kafkadouble.server.groups.classic.group import ClassicGroup
from kafkadouble.server.groups.consumer import assignment_steps, current_assignment, downgrade, fencing
from kafkadouble.server.groups.consumer.consumer_group import ConsumerGroup
from kafkadouble.server.groups.consumer.consumer_group_member import ConsumerGroupMember
from kafkadouble.server.groups.group_coordinator_shard import GroupCoordinatorShard
from kafkadouble.server.requests.waiting import Wait

_removal, _classic_group = fencing._removal, downgrade._classic_group
_next_assignment, _replay = current_assignment._next_assignment, GroupCoordinatorShard.replay


def is_always_free(*_: Any) -> bool:
    return True


def owns_nothing(*_: Any) -> bool:
    return False


def answers_at_once(shard: GroupCoordinatorShard, answer: Any, **_: Any) -> Any:
    return answer


def waits_for_no_commit(shard: GroupCoordinatorShard, answer: Any, **_: Any) -> Wait[Any]:
    yield from ()
    return answer


def replays_without_append(shard: GroupCoordinatorShard, records: Sequence[CoordinatorRecord]) -> None:
    """The group is only in memory."""
    for record in records:
        shard.replay(0, -1, record.key, record.value)


def removes_without_epoch(group: ConsumerGroup, members: Sequence[ConsumerGroupMember]) -> list[CoordinatorRecord]:
    """The others are not assigned what a removed member had."""
    return [each for each in _removal(group, members) if not isinstance(each.key, ConsumerGroupMetadataKey)]


def only_assigned(member: ConsumerGroupMember) -> Iterable[Any]:
    """What a member must still revoke has no owner."""
    yield from member.assigned_partitions.items()


def has_nothing_assigned(*_: Any) -> dict[Any, Any]:
    return {}


def keeps_a_low_generation(*arguments: Any) -> ClassicGroup:
    """The generations of the classic group begin again."""
    classic = _classic_group(*arguments)
    classic.generation_id = 1
    return classic


def never_says_to_join_again(group: ConsumerGroup, body: Any) -> None:
    group.member(body.member_id)


def tells_only_who_joins(change: assignment_steps.GroupChange, body: Any) -> Any:
    """The answer to a member that is in the group has no assignment."""
    return ConsumerGroupHeartbeatResponse(
        member_id=change.updated.member_id, member_epoch=change.updated.member_epoch, heartbeat_interval_ms=400
    )


def forgets_targets(shard: GroupCoordinatorShard, offset: int, producer_id: int, key: Any, value: Any) -> None:
    """A coordinator that loads or writes a target assignment does not take it over."""
    if not isinstance(key, ConsumerGroupTargetAssignmentMemberKey):
        _replay(shard, offset, producer_id, key, value)


def gives_all_in_the_old_epoch(member: ConsumerGroupMember, member_epoch: int, target: Any) -> ConsumerGroupMember:
    """The member stays in its epoch with the next assignment."""
    after = _next_assignment(member, member_epoch, target)
    return replace(after, member_epoch=max(member_epoch, 1))
