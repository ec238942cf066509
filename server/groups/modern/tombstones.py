"""The records that delete the members of a consumer, share or streams group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ...coordinator.coordinator_record import CoordinatorRecord


class MemberKeys(NamedTuple):
    """The keys of one type of group. Those of a member are in the order in which its tombstones
    must be replayed."""

    current_assignment: Any
    target_assignment: Any
    member: Any
    target_assignment_metadata: Any
    of_group: tuple[Any, ...]
    """The other keys of the group, which come last."""

    def member_tombstones(self, group_id: str, member_id: str) -> list[CoordinatorRecord]:
        """Returns the records that delete a member."""
        return [CoordinatorRecord(key(group_id=group_id, member_id=member_id), None) for key in self[:3]]

    def group_tombstones(
        self, group_id: str, member_ids: Iterable[str], others: Sequence[CoordinatorRecord] = ()
    ) -> list[CoordinatorRecord]:
        """Returns the records that delete a group with these members; `others` come before those
        of `of_group`."""
        members = list(member_ids)
        current, target, member = (
            [CoordinatorRecord(key(group_id=group_id, member_id=id), None) for id in members] for key in self[:3]
        )
        metadata, *last = (
            CoordinatorRecord(key(group_id=group_id), None) for key in (self.target_assignment_metadata, *self.of_group)
        )
        return [*current, *target, metadata, *member, *others, *last]
