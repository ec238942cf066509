"""The uniform assignor: spreads partitions evenly, and moves as few as it can (KIP-848).

It is the default of consumer groups. The members have the same number of partitions, or differ by
one, if all subscribe to the same topics; else it comes as near to that as subscriptions allow.
"""

from __future__ import annotations

from typing import ClassVar

from .assignment import GroupAssignment
from .group_spec import GroupSpec
from .partition_assignor import SubscribedTopicDescriber
from .uniform_heterogeneous_assignment_builder import UniformHeterogeneousAssignmentBuilder
from .uniform_homogeneous_assignment_builder import UniformHomogeneousAssignmentBuilder


class UniformAssignor:
    """Assigns evenly over all topics together."""

    name: ClassVar[str] = "uniform"

    def assign(self, spec: GroupSpec, describer: SubscribedTopicDescriber) -> GroupAssignment:
        """Returns the partitions of each member; raises PartitionAssignorError."""
        if not spec.members:
            return {}
        if spec.homogeneous:
            return UniformHomogeneousAssignmentBuilder(spec, describer).build()
        return UniformHeterogeneousAssignmentBuilder(spec, describer).build()
