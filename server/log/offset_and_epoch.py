"""An offset with its leader epoch. Two histories that differ at an offset differ in its epoch.

Ordered as KRaft compares logs (KIP-595): the later epoch is ahead, and within one epoch the larger
offset.
"""

from dataclasses import dataclass
from functools import total_ordering

NO_OFFSET = -1
NO_EPOCH = -1


@total_ordering
@dataclass(frozen=True, slots=True)
class OffsetAndEpoch:
    """An offset and its leader epoch; -1 and -1 when nothing is known."""

    offset: int
    epoch: int

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, OffsetAndEpoch):
            return NotImplemented
        return (self.epoch, self.offset) < (other.epoch, other.offset)

    def __repr__(self) -> str:
        return f"offset {self.offset} of epoch {self.epoch}"


UNDEFINED = OffsetAndEpoch(NO_OFFSET, NO_EPOCH)
"""The answer of a replica that does not know the requested epoch (KIP-101)."""
