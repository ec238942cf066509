"""CreatePartitions: adds partitions to a topic, with as many replicas as its other partitions have
(KIP-195).

A topic that appears twice in a request is INVALID_REQUEST, once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse
from kafkadouble.messages.message import Message

from ..metadata.image import Image, TopicImage
from ..quotas.controller_mutation_quota import ApplyQuota, without_quota
from ..requests.request import Refusal
from ..requests.slices import counted
from ..requests.waiting import OTHERS_FIRST, Slices, Wait, sliced
from . import replica_placement
from .controller_result import MAX_RECORDS_PER_USER_OP, ControllerResult

CreatePartitionsTopic = CreatePartitionsRequest.CreatePartitionsTopic
Result = CreatePartitionsResponse.CreatePartitionsTopicResult


def create_partitions(
    image: Image, requested: Sequence[CreatePartitionsTopic], apply_quota: ApplyQuota = without_quota
) -> Wait[ControllerResult[Result]]:
    """Handles CreatePartitions, in slices. Refusal(POLICY_VIOLATION) for too many partitions."""
    times = yield from counted(topic.name for topic in requested)
    topics = {topic.name: topic for topic in requested}
    yield from _check_size(image, (topic for topic in topics.values() if times[topic.name] == 1))
    records: list[Message] = []
    results, slices = [], Slices()
    for topic in topics.values():
        done = len(records)
        try:
            if times[topic.name] > 1:
                raise Refusal(error_codes.INVALID_REQUEST, "Duplicate topic name.")
            records += _added_partitions(image, topic, apply_quota)
        except Refusal as refusal:
            results.append(failed_result(topic.name, refusal.code, refusal.message))
        else:
            results.append(Result(name=topic.name))
        if slices.end(1 + len(records) - done):
            yield OTHERS_FIRST
    return ControllerResult(records, results).checked()


def failed_result(name: str, code: int, message: str | None) -> Result:
    """The result for a topic that got no partitions."""
    return Result(name=name, error_code=code, error_message=message)


def _check_size(image: Image, requested: Iterable[CreatePartitionsTopic]) -> Wait[None]:
    def more(topic: CreatePartitionsTopic) -> int:
        found = image.topic_named(topic.name)
        return 0 if found is None else max(0, topic.count - len(found.partitions))

    if sum((yield from sliced(more, requested))) > MAX_RECORDS_PER_USER_OP:
        raise Refusal(error_codes.POLICY_VIOLATION, "Excessively large number of additional partitions per request.")


def _added_partitions(image: Image, requested: CreatePartitionsTopic, apply_quota: ApplyQuota) -> list[Message]:
    topic = image.topic_named(requested.name)
    if topic is None:
        raise Refusal(error_codes.UNKNOWN_TOPIC_OR_PARTITION)
    first = len(topic.partitions)
    if requested.count <= first:
        raise Refusal(error_codes.INVALID_PARTITIONS, _not_an_increase(requested, first))
    _check_assignments(requested, requested.count - first)
    apply_quota(requested.count - first)
    replicas = _new_replicas(image, topic, requested, first)
    return [
        replica_placement.partition_record(image, topic.id, index, brokers)
        for index, brokers in enumerate(replicas, start=first)
    ]


def _not_an_increase(requested: CreatePartitionsTopic, held: int) -> str:
    if requested.count == held:
        return f"Topic already has {held} partition(s)."
    return f"The topic {requested.name} currently has {held} partition(s); {requested.count} would not be an increase."


def _check_assignments(requested: CreatePartitionsTopic, more: int) -> None:
    if requested.assignments is not None and len(requested.assignments) != more:
        given = f"only {len(requested.assignments)} assignment(s) were specified."
        message = f"Attempted to add {more} additional partition(s), but {given}"
        raise Refusal(error_codes.INVALID_REPLICA_ASSIGNMENT, message)


def _new_replicas(image: Image, topic: TopicImage, requested: CreatePartitionsTopic, first: int) -> list[list[int]]:
    more, factor = requested.count - first, len(topic.partitions[0].replicas)
    if requested.assignments is None:
        return replica_placement.place_replicas(image, first, more, factor)
    return [
        replica_placement.checked_assignment(image, index, assignment.broker_ids, factor)
        for index, assignment in enumerate(requested.assignments, start=first)
    ]
