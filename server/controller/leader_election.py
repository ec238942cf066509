"""Who leads a partition next: Kafka's order of preference (KIP-460, KIP-966).

A leader that may go on goes on, unless the preferred replica is asked for. Else the first replica that is in sync and alive; when nobody is in
sync, the first that is eligible. When there is none of these either, the one that led last, if it is alive; and at the very last, where an
unclean election is allowed, any replica that is alive. The last two lose what the others had (`unclean`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import NamedTuple

from ..metadata.image import PartitionImage

NO_LEADER = -1


class Election(Enum):
    """What an election may do."""

    ONLINE = "online"
    """Keep the partition online with a replica that has everything."""
    PREFERRED = "preferred"
    """The same, and lead by the first replica if that can be."""
    UNCLEAN = "unclean"
    """Keep it online, if need be with a replica that has not everything."""


class ElectionResult(NamedTuple):
    """The leader, or NO_LEADER. `unclean`: records that others had may be lost."""

    leader: int
    unclean: bool = False


class LeaderCandidates(NamedTuple):
    """The replicas of a partition, as they are to be, and who of them may lead at all."""

    replicas: Sequence[int]
    isr: Sequence[int]
    elr: Sequence[int]
    may_lead: Callable[[int], bool]

    def has_everything(self, broker: int) -> bool:
        """Whether `broker` may lead, and nothing is lost by it."""
        return broker in (self.isr or self.elr) and self.may_lead(broker)


def elect(before: PartitionImage, of: LeaderCandidates, election: Election, *, elr: bool) -> ElectionResult:
    """Who leads after `before`. `elr`: the feature of eligible leader replicas is on.

    Who led last may have been moved away since; Kafka fails at that, here it is passed over.
    """
    first = [of.replicas[0]] if election is Election.PREFERRED else []
    for broker in (*first, before.leader, *of.replicas):
        if of.has_everything(broker):
            return ElectionResult(broker)
    if elr and not of.isr and not of.elr and len(before.last_known_elr) == 1:
        [last] = before.last_known_elr
        if last in of.replicas and of.may_lead(last):
            return ElectionResult(last, unclean=True)
    if election is Election.UNCLEAN:
        alive = next(filter(of.may_lead, of.replicas), NO_LEADER)
        return ElectionResult(alive, unclean=alive != NO_LEADER)
    return ElectionResult(NO_LEADER)
