"""What members of consumer groups and share groups have in common (KIP-848, KIP-932)."""

from __future__ import annotations

from dataclasses import dataclass

from .member_state import MemberState

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
