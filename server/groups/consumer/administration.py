"""What a test does to a consumer group: a rebalance, and a target assignment of its own.

Both are written as any other change of the group, so members reconcile with them as usual, and a
broker that loads the group has them. A target assignment holds until the next one is computed.
"""

from __future__ import annotations

from collections.abc import Mapping

from kafkadouble.messages import error_codes

from ...requests.request import Refusal
from ..assignor.assignment import EMPTY_ASSIGNMENT, Assignment
from . import records
from .consumer_group_member import ConsumerGroupMember
from .fencing import fence_members
from .membership import ConsumerGroupMembership


def member_named(group: ConsumerGroupMembership, name: str) -> ConsumerGroupMember:
    """Returns a member by its id or its instance id. Raises Refusal(UNKNOWN_MEMBER_ID)."""
    found = group.static_member(name) or group.members.get(name)
    if found is None:
        members = ", ".join(group.members) or "no members"
        raise Refusal(error_codes.UNKNOWN_MEMBER_ID, f"{group.group_id} has the members {members}")
    return found


def expire_member(group: ConsumerGroupMembership, name: str) -> None:
    """Ends the session of a member now. Raises Refusal."""
    fence_members(group, [member_named(group, name)])


def rebalance(group: ConsumerGroupMembership) -> None:
    """Makes the next heartbeat compute another target assignment. Raises Refusal."""
    epoch = group.group_epoch + 1
    group.shard.write(
        [
            # The time of the last assignment is forgotten: there is no need to wait for the next.
            records.target_assignment_metadata_record(group.group_id, group.assignment_epoch, 0),
            records.epoch_record(group.group_id, epoch, group.metadata_hash),
        ]
    )


def set_target_assignment(group: ConsumerGroupMembership, assignments: Mapping[str, Assignment]) -> None:
    """Assigns these partitions, by member id or instance id; any other member gets none.

    Raises Refusal(UNKNOWN_MEMBER_ID).
    """
    by_member = {member_named(group, name).member_id: assignment for name, assignment in assignments.items()}
    group_id, epoch = group.group_id, group.group_epoch + 1
    targets = [
        records.target_assignment_record(group_id, member_id, by_member.get(member_id, EMPTY_ASSIGNMENT))
        for member_id in group.members
    ]
    group.shard.write(
        [
            records.epoch_record(group_id, epoch, group.metadata_hash),
            *targets,
            records.target_assignment_metadata_record(group_id, epoch, group.shard.now),
        ]
    )
