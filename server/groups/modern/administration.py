"""What a test does to a consumer or share group: a rebalance, and a target assignment of its own.

Both are written as any other change of the group, so members reconcile with them as usual, and a
broker that loads the group has them. A target assignment holds until the next one is computed. A
share group computes one when a partition with a state has no member, so each must have one.

`records` is the module with the records of the type of the group.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..assignor.assignment import EMPTY_ASSIGNMENT, Assignment
from .modern_group import ModernGroup

UNKNOWN_TIME = 0


def rebalance(group: ModernGroup[Any], records: Any) -> None:
    """Makes the next heartbeat compute another target assignment. Raises Refusal."""
    group.refuse_to_rebalance_empty()
    group.shard.write(
        [
            # The time of the last assignment is forgotten: there is no need to wait for the next.
            records.target_assignment_metadata_record(group.group_id, group.assignment_epoch, UNKNOWN_TIME),
            records.epoch_record(group.group_id, group.group_epoch + 1, group.metadata_hash),
        ]
    )


def set_target_assignment(group: ModernGroup[Any], assignments: Mapping[str, Assignment], records: Any) -> None:
    """Assigns these partitions, by member id or instance id; any other member gets none.

    Raises Refusal(UNKNOWN_MEMBER_ID).
    """
    by_member = {group.named_member(name).member_id: assignment for name, assignment in assignments.items()}
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
