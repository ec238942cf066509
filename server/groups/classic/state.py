"""The states of a classic group, and the valid transitions between them.

Empty -> PreparingRebalance -> CompletingRebalance -> Stable
  ^         |    ^                   |                  |
  +---------+    +-------------------+------------------+

Every state may become Dead: this broker is no longer the group's coordinator.
"""

from __future__ import annotations

from enum import Enum


class ClassicGroupState(Enum):
    """The value is the name that Kafka shows."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


VALID_PREVIOUS_STATES = {
    ClassicGroupState.EMPTY: {ClassicGroupState.PREPARING_REBALANCE},
    ClassicGroupState.PREPARING_REBALANCE: {
        ClassicGroupState.EMPTY,
        ClassicGroupState.COMPLETING_REBALANCE,
        ClassicGroupState.STABLE,
    },
    ClassicGroupState.COMPLETING_REBALANCE: {ClassicGroupState.PREPARING_REBALANCE},
    ClassicGroupState.STABLE: {ClassicGroupState.COMPLETING_REBALANCE},
    ClassicGroupState.DEAD: set(ClassicGroupState),
}
"""State -> the states that may transition to it."""
