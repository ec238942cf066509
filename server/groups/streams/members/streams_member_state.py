"""The states of a member of a streams group (KIP-1071).

STABLE              has its target assignment of the epoch that it is in
UNREVOKED_TASKS     must revoke tasks before its epoch can advance
UNRELEASED_TASKS    waits for tasks that other members have not released yet
UNKNOWN             was read from a record that a newer version wrote; the member must rejoin
"""

from __future__ import annotations

from enum import IntEnum


class StreamsMemberState(IntEnum):
    """The value is the one in the records."""

    STABLE = 1
    UNREVOKED_TASKS = 2
    UNRELEASED_TASKS = 3
    UNKNOWN = 127

    @classmethod
    def of(cls, value: int) -> StreamsMemberState:
        """Returns the state of a record's value; UNKNOWN for a value of a newer version."""
        try:
            return cls(value)
        except ValueError:
            return cls.UNKNOWN
