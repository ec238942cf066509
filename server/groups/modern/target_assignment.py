"""Computes the target assignment of a group (KIP-848, Kafka: `TargetAssignmentBuilder`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.client_log import ClientLog

from ...coordinator.timeline_hash_map import overlaid_order
from ...java.hash_tables import hash_map_order, hash_set_copy_order, string_hash
from ...metadata.image import Image
from ...requests.request import Refusal
from ..assignor.assignment import EMPTY_ASSIGNMENT, Assignment, GroupAssignment
from ..assignor.group_spec import GroupSpec, MemberSubscriptionAndAssignment
from ..assignor.partition_assignor import UNKNOWN_TOPIC, PartitionAssignor, PartitionAssignorError
from ..assignor.topic_ids import TopicIds
from .modern_group_member import ModernGroupMember

if TYPE_CHECKING:
    from .modern_group import ModernGroup

M = TypeVar("M", bound=ModernGroupMember)

log = ClientLog("kafkadouble.server.groups")


class ImageTopicDescriber(NamedTuple):
    """Describes the topics of a metadata image to an assignor."""

    image: Image

    def num_partitions(self, topic_id: Uuid) -> int:
        topic = self.image.topic(topic_id)
        return UNKNOWN_TOPIC if topic is None else len(topic.partitions)

    def racks_for_partition(self, topic_id: Uuid, partition: int) -> frozenset[str]:
        topic = self.image.topic(topic_id)
        found = None if topic is None else topic.partitions.get(partition)
        brokers = [] if found is None else [self.image.brokers.get(replica) for replica in found.replicas]
        return frozenset(broker.rack for broker in brokers if broker is not None and broker.rack is not None)


def can_compute_next_target_assignment(group: ModernGroup[M], interval_ms: int, now: int) -> bool:
    """Returns whether the interval between two assignments is over."""
    timestamp = group.assignment_timestamp
    return timestamp == 0 or interval_ms == 0 or now >= timestamp + interval_ms


def _in_order(names: Collection[str]) -> Collection[str]:
    """Returns the names in the order of Kafka's HashSet; a set of strings has another order in each
    process."""
    return names if len(names) < 2 else hash_set_copy_order(sorted(names), string_hash)


def compute_target_assignment(
    group: ModernGroup[M],
    epoch: int,
    assignor: PartitionAssignor,
    members: Mapping[str, M],
    target_assignment: Mapping[str, Assignment],
    subscribed_topics: Callable[[M], Collection[str]],
    *,
    homogeneous: bool,
    assignable_partitions: Mapping[Uuid, Container[int]] | None = None,
) -> GroupAssignment:
    """Returns the target assignment of `members`; `target_assignment` is the one that they have.

    Raises Refusal(UNKNOWN_SERVER_ERROR) if the assignor fails.
    """
    image = group.shard.node.image
    in_order = hash_map_order(overlaid_order(group.members, members, string_hash), string_hash)
    spec = GroupSpec(
        {
            member_id: MemberSubscriptionAndAssignment(
                members[member_id].rack_id,
                members[member_id].instance_id,
                TopicIds(_in_order(subscribed_topics(members[member_id])), image.topic_ids.get),
                target_assignment.get(member_id, EMPTY_ASSIGNMENT),
            )
            for member_id in in_order
        },
        homogeneous,
        group.inverted_target_assignment,
        assignable_partitions,
    )
    try:
        assigned = assignor.assign(spec, ImageTopicDescriber(image))
    except PartitionAssignorError as problem:
        log.warning("%r: the target assignment of epoch %s failed: %s", group, epoch, problem)
        raise Refusal(error_codes.UNKNOWN_SERVER_ERROR) from problem
    return {member_id: assigned.get(member_id, EMPTY_ASSIGNMENT) for member_id in spec.members}
