"""A member of a share group (KIP-932)."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..assignor.assignment import EMPTY_ASSIGNMENT, Assignment
from ..modern.modern_group_member import ModernGroupMember


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareGroupMember(ModernGroupMember):
    """`assigned_partitions` are those that the member may fetch from; other members may have them,
    too."""

    assigned_partitions: Assignment = field(default_factory=lambda: EMPTY_ASSIGNMENT)
