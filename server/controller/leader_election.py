"""Elects the leader of a partition, in Kafka's order of preference (KIP-460, KIP-966).

    1. the current leader, unless the election prefers the first replica
    2. the first in-sync replica that is alive; with an empty ISR the first eligible one
    3. the last leader, if it is alive and was the only last known one
    4. any live replica, if an unclean election is allowed

The last two may lose records of other replicas (`unclean`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import NamedTuple

from ..metadata.image import PartitionImage

NO_LEADER = -1


class Election(Enum):
    """The kinds of leaders that an election may choose."""

    ONLINE = "online"
    """Keep the partition online with a replica that has every committed record."""
    PREFERRED = "preferred"
    """The same, and prefer the first replica."""
    UNCLEAN = "unclean"
    """Keep the partition online even with a replica that lacks committed records."""


class ElectionResult(NamedTuple):
    """The leader, or NO_LEADER. `unclean`: committed records may be lost."""

    leader: int
    unclean: bool = False


class LeaderCandidates(NamedTuple):
    """The replicas of a partition after the change, and which of them may lead at all."""

    replicas: Sequence[int]
    isr: Sequence[int]
    elr: Sequence[int]
    may_lead: Callable[[int], bool]


def elect(before: PartitionImage, of: LeaderCandidates, election: Election, *, elr: bool) -> ElectionResult:
    """The leader after `before`. `elr`: the feature of eligible leader replicas is enabled.

    If the last leader is no replica any more, Kafka fails; here it is skipped.
    """
    first = [of.replicas[0]] if election is Election.PREFERRED else []
    for broker in (*first, before.leader, *of.replicas):
        # It may lead without a loss of committed records.
        if broker in (of.isr or of.elr) and of.may_lead(broker):
            return ElectionResult(broker)
    if elr and not of.isr and not of.elr and len(before.last_known_elr) == 1:
        [last] = before.last_known_elr
        if last in of.replicas and of.may_lead(last):
            return ElectionResult(last, unclean=True)
    if election is Election.UNCLEAN:
        alive = next(filter(of.may_lead, of.replicas), NO_LEADER)
        return ElectionResult(alive, unclean=alive != NO_LEADER)
    return ElectionResult(NO_LEADER)
