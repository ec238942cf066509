"""A place in a log that is told apart from the same offset in another leader's history: the offset, and the epoch of its leader.

Ordered as KRaft compares logs (KIP-595): the later epoch is ahead, and within one epoch the larger offset.
"""

from dataclasses import dataclass
from functools import total_ordering

NO_OFFSET = -1
NO_EPOCH = -1


@total_ordering
@dataclass(frozen=True, slots=True)
class OffsetAndEpoch:
    """An offset, and the leader epoch that it belongs to; -1 and -1 where nothing is known."""

    offset: int
    epoch: int

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, OffsetAndEpoch):
            return NotImplemented
        return (self.epoch, self.offset) < (other.epoch, other.offset)

    def __repr__(self) -> str:
        return f"offset {self.offset} of epoch {self.epoch}"


UNDEFINED = OffsetAndEpoch(NO_OFFSET, NO_EPOCH)
"""What a replica answers when it does not know the epoch that it was asked for (KIP-101)."""
