"""The common base of members of consumer groups and share groups (KIP-848, KIP-932)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class MemberState(IntEnum):
    """The state of a member; the value is the one in the records.

    STABLE                  has its target assignment of the epoch that it is in
    UNREVOKED_PARTITIONS    must revoke partitions before its epoch can advance
    UNRELEASED_PARTITIONS   waits for partitions that other members have not released yet
    UNKNOWN                 was read from a record that a newer version wrote; it must rejoin
    """

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    UNRELEASED_PARTITIONS = 2
    UNKNOWN = 127

    @classmethod
    def of(cls, value: int) -> MemberState:
        """Returns the state of a record's value; UNKNOWN for a value of a newer version."""
        try:
            return cls(value)
        except ValueError:
            return cls.UNKNOWN


LEAVE_GROUP_MEMBER_EPOCH = -1
"""The epoch with which a member leaves, and the one of a member whose assignment was deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModernGroupMember:
    """One member, as the records describe it. An update is another value."""

    member_id: str
    member_epoch: int = 0
    previous_member_epoch: int = -1
    state: MemberState = MemberState.STABLE
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    subscribed_topic_names: frozenset[str] = frozenset()

    def is_reconciled_to(self, target_assignment_epoch: int) -> bool:
        """Returns whether the member has its target assignment of this epoch."""
        return self.state is MemberState.STABLE and self.member_epoch == target_assignment_epoch
