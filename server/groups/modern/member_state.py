"""The states of a member of a consumer group or a share group (KIP-848, KIP-932).

STABLE                  has its target assignment of the epoch that it is in
UNREVOKED_PARTITIONS    must revoke partitions before its epoch can advance
UNRELEASED_PARTITIONS   waits for partitions that other members have not released yet
UNKNOWN                 was read from a record that a newer version wrote; the member must rejoin
"""

from __future__ import annotations

from enum import IntEnum


class MemberState(IntEnum):
    """The value is the one in the records."""

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
