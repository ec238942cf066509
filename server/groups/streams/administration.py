"""What a test does to a streams group: end the session of a member, and rebalance.

Both are written as any other change of the group, so members reconcile with them as usual, and a
broker that loads the group has them.
"""

from __future__ import annotations

from kafkadouble.messages import error_codes

from ...requests.request import Refusal
from . import records
from .fencing import ASSIGN_AT_ONCE, fence_member
from .membership import StreamsGroupMembership


def expire_member(group: StreamsGroupMembership, name: str) -> None:
    """Ends the session of a member, by its id or its instance id. Raises Refusal."""
    found = group.static_member(name) or group.members.get(name)
    if found is None:
        members = ", ".join(group.members) or "no members"
        raise Refusal(error_codes.UNKNOWN_MEMBER_ID, f"{group.group_id} has the members {members}")
    fence_member(group, found)


def rebalance(group: StreamsGroupMembership) -> None:
    """Makes the next heartbeat compute another target assignment, without the usual pause. Raises
    Refusal."""
    if group.is_empty:
        raise Refusal(error_codes.UNKNOWN_MEMBER_ID, f"{group.group_id} has no members")
    group_id, epoch = group.group_id, group.metadata.epoch + 1
    group.shard.write(
        [
            records.target_assignment_metadata_record(group_id, group.assignment_epoch, ASSIGN_AT_ONCE),
            records.metadata_record(group_id, group.metadata._replace(epoch=epoch)),
        ]
    )
