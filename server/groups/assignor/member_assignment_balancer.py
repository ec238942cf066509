"""Chooses which members give up partitions, and which get them, while topics are balanced.

The subscribers of one topic are sorted by the number of partitions that they have of all topics.
The least loaded members are a range at the beginning of that list. Each gets one partition, then
all of the range are at the next level; the members that are there already join the range, and it
starts again. The most loaded members are such a range at the end.
"""

from __future__ import annotations

from collections.abc import Sequence


class MemberAssignmentBalancer:
    """Balances the members of one topic at a time.

    `sizes` has the number of partitions of each member of the group, which the caller updates.
    Members are known by their index in the group.
    """

    def __init__(self, sizes: list[int]) -> None:
        self._sizes = sizes

    def initialize(self, members: Sequence[int]) -> int:
        """Begins with the subscribers of a topic, in ascending order; returns the difference
        between the most and the least loaded."""
        sizes = self._sizes
        # A stable sort: members of one size remain in ascending order.
        self._sorted = ordered = sorted(members, key=sizes.__getitem__)
        least, most = sizes[ordered[0]], sizes[ordered[-1]]
        self._least_end, self._least_size, self._next_least = 0, least - 1, 0
        self._most_start = self._most_end = len(ordered)
        self._most_size, self._next_most = most + 1, len(ordered) - 1
        return most - least

    def is_balanced(self) -> bool:
        """Returns whether to move another partition would not help."""
        return self._most_size - self._least_size <= 1

    def next_least_loaded_member(self) -> int:
        """Returns the member that gets the next partition."""
        if self._next_least >= self._least_end:
            self._least_size += 1
            ordered, sizes = self._sorted, self._sizes
            while self._least_end < len(ordered) and sizes[ordered[self._least_end]] == self._least_size:
                self._least_end += 1
            self._next_least = 0
        member = self._sorted[self._next_least]
        self._next_least += 1
        return member

    def next_most_loaded_member(self) -> int | None:
        """Returns the member that loses the next partition, None if there is no other."""
        if self._next_most < self._most_start:
            if self._most_end <= self._most_start and self._most_start > 0:
                # Every member of the range was excluded: go on with the next ones.
                self._most_size = self._sizes[self._sorted[self._most_start - 1]]
            else:
                self._most_size -= 1
            ordered, sizes = self._sorted, self._sizes
            while self._most_start > 0 and sizes[ordered[self._most_start - 1]] == self._most_size:
                self._most_start -= 1
            self._next_most = self._most_end - 1
        if self._next_most < 0:
            return None
        member = self._sorted[self._next_most]
        self._next_most -= 1
        return member

    def exclude_most_loaded_member(self) -> None:
        """Leaves out the member that was returned last: it has no partition of this topic."""
        ordered, excluded, last = self._sorted, self._next_most + 1, self._most_end - 1
        ordered[excluded], ordered[last] = ordered[last], ordered[excluded]
        self._most_end -= 1
