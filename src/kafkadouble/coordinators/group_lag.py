"""The lag of a group.

Rules. The lag counts the partitions with a committed offset and those that are assigned to a
member. Without a committed offset it is all that the log holds. While no partition is assigned to a
member, a group that committed an offset of a topic is behind in each of its partitions that has
records and no commit: what would read them is not known. The lag of a partition without a leader is
unknown, and so the group is not caught up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from kafkadouble.common.plural import counted

if TYPE_CHECKING:
    from .group_values import Committed, Group, TopicPartition

    Bounds = Callable[[list[TopicPartition]], Mapping[TopicPartition, tuple[int, int]]]
    """Returns the log start offsets and the high watermarks of partitions, without those that have
    no leader."""

MANY = 10
"""So many partitions a message names."""


def assigned(group: Group) -> set[TopicPartition]:
    """The partitions that its members have."""
    return {partition for member in group.members for partition in member.assignment}


def lags(
    group: Group,
    others: Iterable[TopicPartition],
    bounds: Bounds,
    known: Mapping[TopicPartition, int] | None = None,
) -> dict[TopicPartition, int]:
    """The lags of a group, by partition. `others` count only if they have records; `known` are lags
    that the group's coordinator computes."""
    counted, known = {*group.offsets, *assigned(group)}, known or {}
    requested = sorted({*counted, *others})
    limits = bounds(requested) if requested else {}
    found = {at: known.get(at, _lag(group.offsets.get(at), *limits[at])) for at in requested if at in limits}
    return {at: lag for at, lag in found.items() if lag or at in counted}


def _lag(committed: Committed | None, start: int, end: int) -> int:
    """A commit beyond the high watermark has no lag."""
    return max(0, end - (start if committed is None else committed.offset))


def is_caught_up(group: Group, lag: int) -> bool:
    """Whether the group is at most so many records behind, and the lag of each partition is
    known."""
    return bool(group.lags) and not _without_leader(group) and group.lag <= lag


def _without_leader(group: Group) -> list[TopicPartition]:
    return sorted({*group.offsets, *assigned(group)} - group.lags.keys())


def in_words(group: Group) -> str:
    """The group, with what keeps its lag from being small."""
    lag = f"a lag of {group.lag}" if group.lags else "no committed offset"
    words = f"the group {group.id} in the state {group.state}, {counted(len(group.members), 'member')}, {lag}"
    if missing := [at for at in group.lags if at not in group.offsets]:
        words += (
            f"; without a committed offset: {_named(missing)} "
            "(a member that begins at latest commits nothing until it reads a record)"
        )
    if leaderless := _without_leader(group):
        words += f"; without a leader: {_named(leaderless)}"
    return words


def _named(partitions: list[TopicPartition]) -> str:
    names = [f"{topic}-{index}" for topic, index in sorted(partitions)]
    return ", ".join(names[:MANY]) + (f" and {len(names) - MANY} more" if len(names) > MANY else "")
