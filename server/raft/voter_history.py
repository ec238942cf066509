"""The voters and the `kraft.version` by log offset, from control records (KIP-853).

A replica uses the newest set in its log, committed or not; a truncation restores the previous one.
Without control records the static voters apply, in `kraft.version` 0.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Generic, TypeVar

from .voters import VoterSet

T = TypeVar("T")

BEFORE_THE_LOG = -1


class _ValueHistory(Generic[T]):
    """A value that changes at offsets."""

    __slots__ = ("offsets", "values")

    def __init__(self, first: T) -> None:
        self.offsets, self.values = [BEFORE_THE_LOG], [first]

    def set(self, offset: int, value: T) -> None:
        self.cut(offset)
        self.offsets.append(offset)
        self.values.append(value)

    def cut(self, end: int) -> None:
        """Removes values set at `end` or later."""
        keep = max(1, bisect_left(self.offsets, end))
        del self.offsets[keep:], self.values[keep:]

    def forget_before(self, start: int) -> None:
        """Only the last value before `start` is needed."""
        obsolete = bisect_left(self.offsets, start) - 1
        if obsolete > 0:
            del self.offsets[:obsolete], self.values[:obsolete]


class VoterHistory:
    """`voters` and `kraft_version` are the current ones: the newest in the log."""

    __slots__ = ("_sets", "_versions", "static")

    def __init__(self, static: VoterSet) -> None:
        self.static = static
        self._sets = _ValueHistory(static)
        self._versions = _ValueHistory(0)

    @property
    def voters(self) -> VoterSet:
        return self._sets.values[-1]

    @property
    def voters_offset(self) -> int:
        """The offset of the current set; -1 for the static one."""
        return self._sets.offsets[-1]

    @property
    def kraft_version(self) -> int:
        return self._versions.values[-1]

    def voters_at(self, end: int) -> VoterSet:
        """The set before the offset `end`, as in a snapshot up to there."""
        return self._sets.values[max(0, bisect_left(self._sets.offsets, end) - 1)]

    def kraft_version_at(self, end: int) -> int:
        return self._versions.values[max(0, bisect_left(self._versions.offsets, end) - 1)]

    def set_voters(self, offset: int, voters: VoterSet) -> None:
        self._sets.set(offset, voters)

    def set_kraft_version(self, offset: int, version: int) -> None:
        self._versions.set(offset, version)

    def truncate(self, end: int) -> None:
        """The log now ends at `end`."""
        self._sets.cut(end)
        self._versions.cut(end)

    def forget_before(self, start: int) -> None:
        """The log now starts at `start`."""
        self._sets.forget_before(start)
        self._versions.forget_before(start)

    def restart(self, end: int, voters: VoterSet | None, kraft_version: int) -> None:
        """The log now starts at `end`, with the values of a snapshot."""
        self._sets, self._versions = _ValueHistory(self.static), _ValueHistory(0)
        if voters is not None:
            self._sets.set(end - 1, voters)
        if kraft_version:
            self._versions.set(end - 1, kraft_version)

    def __repr__(self) -> str:
        return f"{self.voters!r} from offset {self.voters_offset}, kraft.version {self.kraft_version}"
