"""The delivery states of a record in a share group, and how one may follow another (KIP-932).

    AVAILABLE -> ACQUIRED -> ACKNOWLEDGED               the member accepted it
                          -> AVAILABLE                  released, or the acquisition lock timed out
                          -> ARCHIVED                   rejected, a gap, or delivered too often
                          -> ARCHIVING -> ARCHIVED      with a dead-letter queue (KIP-1191)

The ids are those of the share coordinator's records. `archive` moves a record to ARCHIVED from any
state that is not terminal; the table holds the other transitions.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum


class RecordState(IntEnum):
    """The delivery state of one record."""

    AVAILABLE = 0
    ACQUIRED = 1
    ACKNOWLEDGED = 2
    ARCHIVING = 3
    ARCHIVED = 4

    @property
    def is_terminal(self) -> bool:
        """Whether the record is never delivered again."""
        return self in TERMINAL


AVAILABLE, ACQUIRED, ACKNOWLEDGED, ARCHIVING, ARCHIVED = RecordState

TERMINAL = frozenset((ACKNOWLEDGED, ARCHIVED))

TRANSITIONS: Mapping[RecordState, frozenset[RecordState]] = {
    AVAILABLE: frozenset((ACQUIRED,)),
    ACQUIRED: frozenset((AVAILABLE, ACKNOWLEDGED, ARCHIVING, ARCHIVED)),
    ACKNOWLEDGED: frozenset(),
    ARCHIVING: frozenset((ARCHIVED,)),
    ARCHIVED: frozenset(),
}
"""State -> the states that may follow it."""


class AcknowledgeType(IntEnum):
    """The acknowledgement of an acquired record by a member (KIP-932, RENEW: KIP-1222)."""

    GAP = 0
    """There is no record at this offset."""
    ACCEPT = 1
    RELEASE = 2
    REJECT = 3
    RENEW = 4
    """The member still processes the record: its acquisition lock begins again."""


STATE_AFTER: Mapping[AcknowledgeType, RecordState] = {
    AcknowledgeType.GAP: ARCHIVED,
    AcknowledgeType.ACCEPT: ACKNOWLEDGED,
    AcknowledgeType.RELEASE: AVAILABLE,
    AcknowledgeType.REJECT: ARCHIVED,
}
"""Acknowledge type -> the next state. RENEW changes no state. With a dead-letter queue REJECT leads
to ARCHIVING."""
