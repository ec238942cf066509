"""AlterPartitionReassignments and ListPartitionReassignments: starts, replaces, cancels and lists
reassignments of replicas (KIP-455, KIP-860).

A reassignment starts with the target replicas followed by the replicas to remove. It completes when
a leader reports an ISR that allows it, or at once if there is nothing to wait for (see
`partition_reassignment_replicas.py`). As in Kafka, a reassignment that replaces another one keeps
the other's adding and removing replicas where it has none of its own; such a reassignment may only
end by being cancelled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from kafkadouble.messages.generated.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from kafkadouble.messages.generated.partition_change_record import PartitionChangeRecord

from ..configs.settings import Settings
from ..metadata.image import Image, TopicImage
from ..requests.request import Refusal
from ..requests.slices import ordered
from ..requests.waiting import OTHERS_FIRST, Slices, Wait, sliced
from .controller_result import ControllerResult
from .partition_change_builder import PartitionTarget
from .partition_changes import ImagePartition, PartitionChanges, unclean_election_enabled
from .partition_reassignment_replicas import PartitionReassignmentReplicas
from .replica_placement import check_assignable

ReassignablePartition = AlterPartitionReassignmentsRequest.ReassignablePartition
Result = AlterPartitionReassignmentsResponse.ReassignableTopicResponse
PartitionResult = AlterPartitionReassignmentsResponse.ReassignablePartitionResponse
ListedTopic = ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics
OngoingTopicReassignment = ListPartitionReassignmentsResponse.OngoingTopicReassignment
OngoingPartitionReassignment = ListPartitionReassignmentsResponse.OngoingPartitionReassignment


def alter_partition_reassignments(
    image: Image, settings: Settings, request: AlterPartitionReassignmentsRequest
) -> Wait[ControllerResult[Result]]:
    """Handles AlterPartitionReassignments, in slices."""
    changes, slices = PartitionChanges(image, settings), Slices()
    records: list[PartitionChangeRecord] = []
    results = []
    for topic in request.topics:
        answers = []
        if slices.end():
            yield OTHERS_FIRST
        for requested in topic.partitions:
            if slices.end(1 + len(requested.replicas or ())):
                yield OTHERS_FIRST
            try:
                place = _checked_partition(image, topic.name, requested.partition_index)
                if requested.replicas is None:
                    records += _cancel_reassignment(image, settings, changes, place)
                else:
                    records += _start_reassignment(
                        image, changes, place, requested.replicas, request.allow_replication_factor_change
                    )
            except Refusal as refusal:
                answers.append(_result(requested, refusal.code, refusal.message))
            else:
                answers.append(_result(requested))
        results.append(Result(name=topic.name, partitions=answers))
    return ControllerResult(records, results).checked()


def _checked_partition(image: Image, name: str, index: int) -> ImagePartition:
    topic = image.topic_named(name)
    if topic is None:
        raise Refusal(error_codes.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find a topic named {name}.")
    if index not in topic.partitions:
        raise Refusal(error_codes.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find partition {name}:{index}.")
    return ImagePartition(topic, index)


def _start_reassignment(
    image: Image, changes: PartitionChanges, place: ImagePartition, target: Sequence[int], may_change_factor: bool
) -> list[PartitionChangeRecord]:
    check_assignable(image, target)
    partition = place.partition
    factor = len(PartitionReassignmentReplicas.of(partition).target_replicas())
    if not may_change_factor and factor != len(target):
        message = f"The replication factor is changed from {factor} to {len(target)}"
        raise Refusal(error_codes.INVALID_REPLICATION_FACTOR, message)
    replicas, adding, removing = PartitionReassignmentReplicas.to_target(partition.replicas, target)
    return changes.change(place, PartitionTarget(replicas=replicas, adding=adding or None, removing=removing or None))


def _cancel_reassignment(
    image: Image, settings: Settings, changes: PartitionChanges, place: ImagePartition
) -> list[PartitionChangeRecord]:
    topic, partition = place.topic, place.partition
    list_partition_reassignments = PartitionReassignmentReplicas.of(partition)
    if not list_partition_reassignments.in_progress:
        raise Refusal(error_codes.NO_REASSIGNMENT_IN_PROGRESS)
    replicas = list_partition_reassignments.original_replicas()
    if not replicas:
        message = "Invalid replica assignment: addingReplicas contains all replicas."
        raise Refusal(error_codes.INVALID_REPLICA_ASSIGNMENT, message)
    isr = [broker for broker in partition.isr if broker in replicas]
    if not isr and not unclean_election_enabled(image, settings, topic):
        message = f"{topic.name}:{place.number} because it would require an unclean leader election."
        message = f"Unable to revert partition assignment for {message}"
        raise Refusal(error_codes.INVALID_REPLICA_ASSIGNMENT, message)
    target = PartitionTarget(
        isr=isr or replicas[:1], replicas=replicas, adding=(), removing=(), election=changes.election(topic)
    )
    return changes.change(place, target)


def _result(
    requested: ReassignablePartition, code: int = error_codes.NONE, message: str | None = None
) -> PartitionResult:
    return PartitionResult(partition_index=requested.partition_index, error_code=code, error_message=message)


def list_partition_reassignments(
    image: Image, requested: Sequence[ListedTopic] | None
) -> Wait[list[OngoingTopicReassignment]]:
    """Handles ListPartitionReassignments, in slices. Partitions without a reassignment, and unknown
    ones, are left out.
    """
    listed, slices = [], Slices()
    names = (yield from ordered(image.topic_ids)) if requested is None else ()
    for topic, indexes in _listed_partitions(image, requested or (), names):
        if slices.end():
            yield OTHERS_FIRST
        found = yield from sliced(partial(_ongoing, topic), indexes, slices)
        moving = [each for each in found if each is not None]
        if moving:
            listed.append(OngoingTopicReassignment(name=topic.name, partitions=moving))
    return listed


def _listed_partitions(
    image: Image, requested: Iterable[ListedTopic], names: Iterable[str]
) -> Iterator[tuple[TopicImage, Iterable[int]]]:
    """The requested partitions, and all partitions of the requested topics."""
    for each in requested:
        found = image.topic_named(each.name)
        if found is not None:
            yield found, each.partition_indexes
    for name in names:
        topic = image.topics[image.topic_ids[name]]
        yield topic, (index for index, _ in topic.in_order())


def _ongoing(topic: TopicImage, index: int) -> OngoingPartitionReassignment | None:
    partition = topic.partitions.get(index)
    if partition is None or not PartitionReassignmentReplicas.of(partition).in_progress:
        return None
    return OngoingPartitionReassignment(
        partition_index=index,
        replicas=partition.replicas,
        adding_replicas=partition.adding_replicas,
        removing_replicas=partition.removing_replicas,
    )
