"""What a test does to a share group: a rebalance, and a target assignment of its own.

Both are written as any other change of the group, so a broker that loads the group has them. A
target assignment holds until the next one is computed. A share group computes one when a partition
with a state has no member, so each must have one.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..assignor.assignment import EMPTY_ASSIGNMENT, Assignment
from ..modern.modern_group import ModernGroup
from . import records
from .fencing import fence_member
from .share_group_member import ShareGroupMember

UNKNOWN_TIME = 0


def expire_member(group: ModernGroup[ShareGroupMember], member_id: str) -> None:
    """Ends the session of a member now. Raises Refusal."""
    fence_member(group, group.member(member_id))


def rebalance(group: ModernGroup[ShareGroupMember]) -> None:
    """Makes the next heartbeat compute another target assignment. Raises Refusal."""
    group.shard.write(
        [
            # The time of the last assignment is forgotten: there is no need to wait for the next.
            records.target_assignment_metadata_record(group.group_id, group.assignment_epoch, UNKNOWN_TIME),
            records.epoch_record(group.group_id, group.group_epoch + 1, group.metadata_hash),
        ]
    )


def set_target_assignment(group: ModernGroup[ShareGroupMember], assignments: Mapping[str, Assignment]) -> None:
    """Assigns these partitions, by member id; any other member gets none. Raises Refusal."""
    group_id, epoch = group.group_id, group.group_epoch + 1
    targets = [
        records.target_assignment_record(group_id, member_id, assignments.get(member_id, EMPTY_ASSIGNMENT))
        for member_id in group.members
    ]
    group.shard.write(
        [
            records.epoch_record(group_id, epoch, group.metadata_hash),
            *targets,
            records.target_assignment_metadata_record(group_id, epoch, group.shard.now),
        ]
    )
