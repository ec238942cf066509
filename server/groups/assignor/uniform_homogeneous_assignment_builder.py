"""Builds the uniform assignment of a group whose members all subscribe to the same topics.

Every member gets the quota, all partitions divided by all members; a remainder goes to some members
as one extra partition. First each member keeps what it has, up to its quota, and gives up the rest.
Then the members below their quota get the partitions that are left.
"""

from __future__ import annotations

from kafkadouble.messages.uuid import Uuid

from ...java.hash_tables import JavaHashSet, uuid_hash
from .assignment import Assignment, GroupAssignment
from .group_spec import GroupSpec
from .mutable_assignment import MutableAssignment, add_partition, copy_assignment, discard_partition, finished, mutable
from .partition_assignor import PartitionAssignorError, SubscribedTopicDescriber, partition_count


class UniformHomogeneousAssignmentBuilder:
    """One assignment of one group, which has members."""

    def __init__(self, spec: GroupSpec, describer: SubscribedTopicDescriber) -> None:
        self._spec = spec
        self._describer = describer
        first = next(iter(spec.members.values()))
        self._subscribed = JavaHashSet.copy_of(first.subscribed_topic_ids, uuid_hash)
        self._unassigned: list[tuple[Uuid, int]] = []
        self._unfilled: list[tuple[str, int]] = []
        self._target: dict[str, Assignment | MutableAssignment] = {}

    def build(self) -> GroupAssignment:
        """Returns the assignment; raises PartitionAssignorError."""
        if not self._subscribed:
            return {}
        total = sum(map(self._count_partitions, self._subscribed))
        self._revoke(*divmod(total, len(self._spec.members)))
        self._assign_remaining()
        return finished(self._target)

    def _count_partitions(self, topic_id: Uuid) -> int:
        """Counts the partitions of a topic, and collects those that no member has."""
        count = partition_count(self._describer, topic_id)
        assigned = self._spec.inverted_target_assignment.get(topic_id, ())
        self._unassigned += [(topic_id, partition) for partition in range(count) if partition not in assigned]
        return count

    def _revoke(self, minimum_quota: int, extra: int) -> None:
        """Gives each member what it keeps; `extra` members may have one more than the quota."""
        members_left = len(self._spec.members)
        for member_id, member in self._spec.members.items():
            has_extra = extra > 0
            kept, quota = self._kept(member.partitions, minimum_quota + has_extra)
            self._target[member_id] = kept
            # While enough members follow, a member that has room leaves the extra one to them.
            if quota > 0 and has_extra and members_left > extra:
                quota -= 1
                has_extra = False
            if quota > 0:
                self._unfilled.append((member_id, quota))
            extra -= has_extra
            members_left -= 1

    def _kept(self, assignment: Assignment, quota: int) -> tuple[Assignment | MutableAssignment, int]:
        """Returns what a member keeps of its assignment, and how many more it may have."""
        changed: MutableAssignment | None = None
        for topic_id, partitions in assignment.items():
            is_subscribed = topic_id in self._subscribed
            if is_subscribed and len(partitions) <= quota:
                quota -= len(partitions)
                continue
            if changed is None:
                changed = copy_assignment(assignment)
            if not is_subscribed:
                changed.remove(topic_id)
                continue
            for partition in list(partitions)[quota:]:
                discard_partition(changed, topic_id, partition)
                self._unassigned.append((topic_id, partition))
            quota = 0
        return assignment if changed is None else changed, quota

    def _assign_remaining(self) -> None:
        done = 0
        for member_id, quota in self._unfilled:
            assignment = mutable(self._target, member_id)
            for topic_id, partition in self._unassigned[done : done + quota]:
                add_partition(assignment, topic_id, partition)
            done += quota
        if done < len(self._unassigned):
            raise PartitionAssignorError("Partitions were left unassigned")
