"""Moving replicas to other brokers: begun, put in another's place, cancelled, and told (KIP-455, KIP-860).

A reassignment begins with all replicas that are wanted, and those that go after them; it ends by what a leader says of who is in sync, or at
once if nothing has to be waited for (see `reassigned_replicas.py`). One that takes the place of another keeps, as Kafka's does, the other's
coming and going replicas where it has none of its own; such a one may end only by being cancelled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
from ..metadata.controller_result import Decision
from ..metadata.image import Image, PartitionImage, TopicImage
from ..requests.request import Refusal
from .partition_change import Wish
from .partition_changes import Changes, Place, unclean_allowed
from .reassigned_replicas import Reassigned
from .replica_placement import check_assignable

Asked = AlterPartitionReassignmentsRequest.ReassignablePartition
Result = AlterPartitionReassignmentsResponse.ReassignableTopicResponse
PartitionResult = AlterPartitionReassignmentsResponse.ReassignablePartitionResponse
AskedTopic = ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics
Ongoing = ListPartitionReassignmentsResponse.OngoingTopicReassignment
OngoingPartition = ListPartitionReassignmentsResponse.OngoingPartitionReassignment


def reassign(image: Image, settings: Settings, request: AlterPartitionReassignmentsRequest) -> Decision[Result]:
    """What AlterPartitionReassignments does."""
    changes = Changes(image, settings)
    records: list[PartitionChangeRecord] = []
    results = []
    for topic in request.topics:
        answers = []
        for asked in topic.partitions:
            try:
                place = _found(image, topic.name, asked.partition_index)
                if asked.replicas is None:
                    records += _cancelled(image, settings, changes, place)
                else:
                    records += _begun(image, changes, place, asked.replicas, request.allow_replication_factor_change)
            except Refusal as refusal:
                answers.append(_result(asked, refusal.code, refusal.message))
            else:
                answers.append(_result(asked))
        results.append(Result(name=topic.name, partitions=answers))
    return Decision(records, results).checked()


def _found(image: Image, name: str, index: int) -> Place:
    topic = image.topic_named(name)
    if topic is None:
        raise Refusal(error_codes.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find a topic named {name}.")
    if index not in topic.partitions:
        raise Refusal(error_codes.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find partition {name}:{index}.")
    return Place(topic, index)


def _begun(
    image: Image, changes: Changes, place: Place, wanted: Sequence[int], may_change_factor: bool
) -> list[PartitionChangeRecord]:
    check_assignable(image, wanted)
    partition = place.partition
    factor = len(Reassigned.of(partition).wanted())
    if not may_change_factor and factor != len(wanted):
        said = f"The replication factor is changed from {factor} to {len(wanted)}"
        raise Refusal(error_codes.INVALID_REPLICATION_FACTOR, said)
    replicas, adding, removing = Reassigned.towards(partition.replicas, wanted)
    return changes.change(place, Wish(replicas=replicas, adding=adding or None, removing=removing or None))


def _cancelled(image: Image, settings: Settings, changes: Changes, place: Place) -> list[PartitionChangeRecord]:
    topic, partition = place.topic, place.partition
    under_way = Reassigned.of(partition)
    if not under_way.in_progress:
        raise Refusal(error_codes.NO_REASSIGNMENT_IN_PROGRESS)
    replicas = under_way.original()
    if not replicas:
        said = "Invalid replica assignment: addingReplicas contains all replicas."
        raise Refusal(error_codes.INVALID_REPLICA_ASSIGNMENT, said)
    isr = [broker for broker in partition.isr if broker in replicas]
    if not isr and not unclean_allowed(image, settings, topic):
        said = f"{topic.name}:{place.number} because it would require an unclean leader election."
        said = f"Unable to revert partition assignment for {said}"
        raise Refusal(error_codes.INVALID_REPLICA_ASSIGNMENT, said)
    wish = Wish(isr=isr or replicas[:1], replicas=replicas, adding=(), removing=(), election=changes.election(topic))
    return changes.change(place, wish)


def _result(asked: Asked, code: int = error_codes.NONE, message: str | None = None) -> PartitionResult:
    return PartitionResult(partition_index=asked.partition_index, error_code=code, error_message=message)


def under_way(image: Image, asked: Sequence[AskedTopic] | None) -> list[Ongoing]:
    """What ListPartitionReassignments tells: partitions at rest are left out, and so are those that are not there."""
    told = []
    for topic, indexes in _looked_at(image, asked):
        moving = [index for index in indexes if index in topic.partitions and _is_moving(topic.partitions[index])]
        if moving:
            told.append(Ongoing(name=topic.name, partitions=[_ongoing(index, topic) for index in moving]))
    return told


def _looked_at(image: Image, asked: Sequence[AskedTopic] | None) -> Iterator[tuple[TopicImage, Sequence[int]]]:
    if asked is None:
        for _, topic_id in sorted(image.topic_ids.items()):
            topic = image.topics[topic_id]
            yield topic, sorted(topic.partitions)
    else:
        for each in asked:
            found = image.topic_named(each.name)
            if found is not None:
                yield found, each.partition_indexes


def _is_moving(partition: PartitionImage) -> bool:
    return Reassigned.of(partition).in_progress


def _ongoing(index: int, topic: TopicImage) -> OngoingPartition:
    partition = topic.partitions[index]
    return OngoingPartition(
        partition_index=index,
        replicas=partition.replicas,
        adding_replicas=partition.adding_replicas,
        removing_replicas=partition.removing_replicas,
    )
