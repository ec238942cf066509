"""The simple assignor of share groups (KIP-932): partitions may have several members.

If there are more members than partitions, every partition is shared by several members, so that
each member has something to fetch; else each partition has one member. Assignments that exist stay
as far as that allows. Only partitions whose share-partition state is initialized are assigned.
"""

from __future__ import annotations

from typing import ClassVar

from .assignment import GroupAssignment
from .group_spec import GroupSpec
from .partition_assignor import SubscribedTopicDescriber
from .simple_heterogeneous_assignment_builder import SimpleHeterogeneousAssignmentBuilder
from .simple_homogeneous_assignment_builder import SimpleHomogeneousAssignmentBuilder


class SimpleAssignor:
    """Assigns partitions to share."""

    name: ClassVar[str] = "simple"

    def assign(self, spec: GroupSpec, describer: SubscribedTopicDescriber) -> GroupAssignment:
        """Returns the partitions of each member; raises PartitionAssignorError."""
        if not spec.members:
            return {}
        if spec.homogeneous:
            return SimpleHomogeneousAssignmentBuilder(spec, describer).build()
        return SimpleHeterogeneousAssignmentBuilder(spec, describer).build()
