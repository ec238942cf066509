"""The replicas of a partition that is being reassigned: which come, which go, when that is done, and how it is undone (KIP-455).

While it lasts, `replicas` holds the wanted ones, in their order, and after them those that go. This file only reckons.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..metadata.image import PartitionImage

Brokers = Sequence[int]


class CompletedReassignment(NamedTuple):
    """The replicas and the in-sync ones once the reassignment is over."""

    replicas: list[int]
    isr: list[int]


class PartitionReassignmentReplicas(NamedTuple):
    """`adding` and `removing` are both empty when nothing is being reassigned."""

    replicas: Brokers
    adding: Brokers
    removing: Brokers

    @classmethod
    def of(cls, partition: PartitionImage) -> PartitionReassignmentReplicas:
        return cls(partition.replicas, partition.adding_replicas, partition.removing_replicas)

    @classmethod
    def to_target(cls, current: Brokers, wanted: Brokers) -> PartitionReassignmentReplicas:
        """From the replicas that are there to those that are wanted."""
        removing = sorted(set(current) - set(wanted))
        return cls([*wanted, *removing], sorted(set(wanted) - set(current)), removing)

    @property
    def in_progress(self) -> bool:
        return bool(self.adding or self.removing)

    def target_replicas(self) -> list[int]:
        """The replicas when it is done."""
        return [broker for broker in self.replicas if broker not in self.removing]

    def original_replicas(self) -> list[int]:
        """The replicas before it began."""
        return [broker for broker in self.replicas if broker not in self.adding]

    def completed(self, isr: Brokers) -> CompletedReassignment | None:
        """What it ends as, if with these in sync it can end.

        All that come are in sync, and somebody stays. Where more go than come, all that stay are in sync: those that came by an earlier
        reassignment, which this one has taken the place of, are not among those that come.
        """
        if not self.in_progress:
            return None
        replicas, left = self.target_replicas(), [broker for broker in isr if broker not in self.removing]
        needed = set(self.adding)
        if len(self.adding) < len(self.removing):
            needed |= set(replicas)
        return CompletedReassignment(replicas, left) if left and needed <= set(left) else None
