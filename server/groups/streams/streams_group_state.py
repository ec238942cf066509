"""The states of a streams group (KIP-1071)."""

from __future__ import annotations

from enum import Enum


class StreamsGroupState(Enum):
    """The value is the name that Kafka shows."""

    EMPTY = "Empty"
    NOT_READY = "NotReady"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"
    DEAD = "Dead"

    @property
    def filter_name(self) -> str:
        """Returns the name that a filter of ListGroups must have, in lower case.

        Apache Kafka expects `not_ready`; its own admin client sends NotReady, which finds none.
        """
        return "not_ready" if self is StreamsGroupState.NOT_READY else self.value.lower()
