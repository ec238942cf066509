"""Computes the size of a micro-batch and the ranges of its tasks: numbers only. The formulas are
those of Spark's connector, so both divide in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ..client import TopicPartition


class OffsetRange(NamedTuple):
    """The offsets of one partition from `start`, before `end`."""

    tp: TopicPartition
    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start


def backlog(start: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int]) -> int:
    """The number of offsets between two positions."""
    return sum(max(last - start.get(tp, 0), 0) for tp, last in end.items())


def limited(
    most: int, start: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int]:
    """An earlier end, so that about `most` offsets are left, in proportion to the offsets of each
    partition; every partition gets some."""
    sizes = {tp: last - start[tp] for tp, last in end.items() if tp in start and last > start[tp]}
    total = sum(sizes.values())
    return {
        tp: min(last, start[tp] + _share(most, sizes[tp], total)) if tp in sizes else last for tp, last in end.items()
    }


def _share(most: int, size: int, total: int) -> int:
    share = most * (size / total)
    return math.ceil(share) if share < 1 else math.floor(share)


class Admission:
    """Decides when a micro-batch may start: when `least` offsets are available, or `delay` ms after
    the last start. The first one does not wait."""

    def __init__(self, least: int | None, delay: int) -> None:
        self._least, self._delay = least, delay
        self._last = 0

    def admits(self, available: int, now: int) -> bool:
        """Whether one starts at `now` (ms since the epoch) with the available offsets."""
        if self._least is None:
            return True
        if now - self._last < self._delay and available < self._least:
            return False
        self._last = now
        return True


def tasks(spans: Iterable[OffsetRange], least: int | None = None, most: int | None = None) -> list[OffsetRange]:
    """The ranges of the tasks: not empty, not larger than `most`, and about `least` of them if
    possible."""
    found = [span for span in spans if span.size > 0]
    if most is not None:
        found = [piece for span in found for piece in cut(span, math.ceil(span.size / most))]
    if least is None or len(found) >= least:
        return found
    return _split(found, least)


def _split(spans: list[OffsetRange], least: int) -> list[OffsetRange]:
    """Small ranges stay whole and do not count in the proportion of the others."""
    total = sum(span.size for span in spans)
    small = {span for span in spans if _pieces(span.size, total, least) == 1}
    rest = total - sum(span.size for span in small)
    pieces = max(least - len(small), 1)
    return [p for s in spans for p in cut(s, 1 if s in small else _pieces(s.size, rest, pieces)) if p.size > 0]


def _pieces(size: int, total: int, pieces: int) -> int:
    return max(math.floor(size / total * pieces + 0.5), 1)


def cut(span: OffsetRange, pieces: int) -> Iterator[OffsetRange]:
    """A range in `pieces` parts; a remainder goes to the last ones."""
    at = span.start
    for left in range(pieces, 0, -1):
        until = at + (span.end - at) // left
        yield OffsetRange(span.tp, at, until)
        at = until
