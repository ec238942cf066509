"""What a test does to a share group: a rebalance, and a target assignment of its own.

Both are written as any other change of the group, so a broker that loads the group has them. A
target assignment holds until the next one is computed. A share group computes one when a partition
with a state has no member, so each must have one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes

from ...requests.request import Refusal
from ..assignor.assignment import EMPTY_ASSIGNMENT, Assignment
from . import records
from .fencing import fence_member

if TYPE_CHECKING:
    from .share_group import ShareGroup

UNKNOWN_TIME = 0


def expire_member(group: ShareGroup, member_id: str) -> None:
    """End the session of a member now. Raises Refusal."""
    fence_member(group, group.member(member_id))


def rebalance(group: ShareGroup) -> None:
    """Let the next heartbeat compute another target assignment. Raises Refusal."""
    group.shard.write(
        [
            # The time of the last assignment is forgotten: there is no need to wait for the next.
            records.target_assignment_metadata_record(group.group_id, group.assignment_epoch, UNKNOWN_TIME),
            records.epoch_record(group.group_id, group.group_epoch + 1, group.metadata_hash),
        ]
    )


def set_target_assignment(group: ShareGroup, assignments: Mapping[str, Assignment]) -> None:
    """Assign these partitions; any other member gets none. Raises Refusal: UNKNOWN_MEMBER_ID,
    INVALID_REQUEST."""
    by_member = {group.member(member_id).member_id: assignment for member_id, assignment in assignments.items()}
    if group.would_be_pending(by_member.values()):
        message = (
            f"{group.group_id} computes its own assignment unless exactly the partitions that have a state are assigned"
        )
        raise Refusal(error_codes.INVALID_REQUEST, message)
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
