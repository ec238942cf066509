"""The states of a classic group, and which may follow which.

Empty -> PreparingRebalance -> CompletingRebalance -> Stable
           ^   |    ^                 |                 |
           |   v    +-----------------+-----------------+
           +- Empty                                           and Dead from everywhere: this node coordinates the group no longer
"""

from __future__ import annotations

from enum import Enum


class State(Enum):
    """A state; its value is the name that Kafka shows."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


MAY_FOLLOW = {
    State.EMPTY: {State.PREPARING_REBALANCE},
    State.PREPARING_REBALANCE: {State.EMPTY, State.COMPLETING_REBALANCE, State.STABLE},
    State.COMPLETING_REBALANCE: {State.PREPARING_REBALANCE},
    State.STABLE: {State.COMPLETING_REBALANCE},
    State.DEAD: set(State),
}
"""State -> the states from which it is entered."""
