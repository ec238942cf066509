"""The replicas of a reassignment: adding, removing, target and original ones, and when it completes
(KIP-455).

During a reassignment `replicas` holds the target replicas in their order, then those to remove.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..metadata.image import PartitionImage

Brokers = Sequence[int]


class CompletedReassignment(NamedTuple):
    """The replicas and the ISR after the reassignment."""

    replicas: list[int]
    isr: list[int]


class PartitionReassignmentReplicas(NamedTuple):
    """`adding` and `removing` are both empty if no reassignment is in progress."""

    replicas: Brokers
    adding: Brokers
    removing: Brokers

    @classmethod
    def of(cls, partition: PartitionImage) -> PartitionReassignmentReplicas:
        return cls(partition.replicas, partition.adding_replicas, partition.removing_replicas)

    @classmethod
    def to_target(cls, current: Brokers, target: Brokers) -> PartitionReassignmentReplicas:
        """From the current replicas to the target."""
        removing = sorted(set(current) - set(target))
        return cls([*target, *removing], sorted(set(target) - set(current)), removing)

    @property
    def in_progress(self) -> bool:
        return bool(self.adding or self.removing)

    def target_replicas(self) -> list[int]:
        """The replicas after the reassignment."""
        return [broker for broker in self.replicas if broker not in self.removing]

    def original_replicas(self) -> list[int]:
        """The replicas before the reassignment."""
        return [broker for broker in self.replicas if broker not in self.adding]

    def completed(self, isr: Brokers) -> CompletedReassignment | None:
        """The result, if the reassignment can complete with this ISR.

        All adding replicas must be in sync, and one replica must remain. If more replicas are
        removed than added, all target replicas must be in sync: replicas that an earlier, replaced
        reassignment added are not among the adding ones.
        """
        if not self.in_progress:
            return None
        replicas, left = self.target_replicas(), [broker for broker in isr if broker not in self.removing]
        needed = set(self.adding)
        if len(self.adding) < len(self.removing):
            needed |= set(replicas)
        return CompletedReassignment(replicas, left) if left and needed <= set(left) else None
