"""CreateTopics: checks names, replicas and configurations topic by topic; one invalid topic does
not affect the others.

A topic that appears twice in a request, and `__cluster_metadata`, are INVALID_REQUEST. The answer
holds the effective configurations with their sources; Java clients rely on them (KIP-525). The
records are in Kafka's order: topic, configurations, partitions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest, CreateTopicsResponse
from kafkadouble.messages.generated.topic_record import TopicRecord
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid

from ..configs.alter import Resource
from ..configs.describe import describe_new_topic
from ..configs.settings import Settings
from ..metadata.image import Image
from ..metadata.internal_topics import METADATA_TOPIC
from ..metadata.topic_names import problem_with_name, unify_collision_chars
from ..quotas.controller_mutation_quota import ApplyQuota, without_quota
from ..requests.request import Refusal
from ..requests.slices import counted
from ..requests.waiting import OTHERS_FIRST, Slices, Wait, sliced
from . import replica_placement
from .configuration_control import Records, checked_topic_configs, config_records
from .controller_result import MAX_RECORDS_PER_USER_OP, ControllerResult

CreatableTopic = CreateTopicsRequest.CreatableTopic
Result = CreateTopicsResponse.CreatableTopicResult

Descriptions = dict[frozenset[tuple[str, str]], list[CreateTopicsResponse.CreatableTopicConfigs]]
"""Described configurations by the ones that are set: ten thousand topics of one request mostly have
the same.
"""

DEFAULT = -1


def create_topics(
    image: Image,
    settings: Settings,
    requested: Sequence[CreatableTopic],
    new_id: Callable[[], Uuid],
    apply_quota: ApplyQuota = without_quota,
) -> Wait[ControllerResult[Result]]:
    """Handles CreateTopics, in slices. Refusal(POLICY_VIOLATION) for too many partitions."""
    times = yield from counted(topic.name for topic in requested)
    topics = {topic.name: topic for topic in requested}
    yield from _check_size(settings, (topic for topic in topics.values() if times[topic.name] == 1))
    records: list[Message] = []
    results, slices = [], Slices()
    described: Descriptions = {}
    for topic in topics.values():
        if slices.end(1 + len(topic.configs)):
            yield OTHERS_FIRST
        try:
            if times[topic.name] > 1:
                raise Refusal(error_codes.INVALID_REQUEST, "Duplicate topic name.")
            if topic.name == METADATA_TOPIC:
                raise Refusal(error_codes.INVALID_REQUEST, f"Creation of internal topic {topic.name} is prohibited.")
            new_records, result = _create_topic(image, settings, topic, new_id, described, apply_quota)
        except Refusal as refusal:
            results.append(failed_result(topic.name, refusal.code, refusal.message))
        else:
            records += new_records
            results.append(result)
            if slices.end(len(new_records)):
                yield OTHERS_FIRST
    return ControllerResult(records, results).checked()


def failed_result(name: str, code: int, message: str | None) -> Result:
    """The result for a topic that was not created."""
    return Result(name=name, error_code=code, error_message=message)


def invalid_topics(requested: Sequence[CreatableTopic]) -> Callable[[CreatableTopic], bool]:
    """Finds the topics that are refused whatever the rights of the client."""
    times = Counter(topic.name for topic in requested)
    return lambda topic: times[topic.name] > 1 or topic.name == METADATA_TOPIC


def _check_size(settings: Settings, requested: Iterable[CreatableTopic]) -> Wait[None]:
    default = settings.int("num.partitions")
    partitions = yield from sliced(
        lambda topic: len(topic.assignments) or max(0, _value_or_default(topic.num_partitions, default)), requested
    )
    if sum(partitions) > MAX_RECORDS_PER_USER_OP:
        raise Refusal(error_codes.POLICY_VIOLATION, "Excessively large number of partitions per request.")


def _value_or_default(number: int, default: int) -> int:
    return default if number == DEFAULT else number


def _create_topic(
    image: Image,
    settings: Settings,
    topic: CreatableTopic,
    new_id: Callable[[], Uuid],
    described: Descriptions,
    apply_quota: ApplyQuota,
) -> tuple[list[Message], Result]:
    _check_name(image, topic.name)
    configs = _configs(image, settings, topic)
    replicas = _assigned_replicas(image, topic) if topic.assignments else _placed_replicas(image, settings, topic)
    apply_quota(len(replicas))
    topic_id = new_id()
    records: list[Message] = [
        TopicRecord(name=topic.name, topic_id=topic_id),
        *config_records(image, Resource.TOPIC, topic.name, configs),
        *(
            replica_placement.partition_record(image, topic_id, index, brokers)
            for index, brokers in enumerate(replicas)
        ),
    ]
    return records, _created_result(settings, topic.name, topic_id, configs, replicas, described)


def _check_name(image: Image, name: str) -> None:
    problem = problem_with_name(name)
    if problem is None and name in image.topic_ids:
        raise Refusal(error_codes.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    if problem is None and (others := image.topics_with_collision_chars.get(unify_collision_chars(name))):
        problem = f"Topic '{name}' collides with existing topic: {min(others)}"
    if problem is not None:
        raise Refusal(error_codes.INVALID_TOPIC_EXCEPTION, problem)


def _configs(image: Image, settings: Settings, topic: CreatableTopic) -> Records:
    requested = {config.name: config.value for config in topic.configs if config.value is not None}
    nulls = [config.name for config in topic.configs if config.value is None]
    if nulls:
        message = f"Null value not supported for topic configs: {','.join(nulls)}"
        raise Refusal(error_codes.INVALID_CONFIG, message)
    return checked_topic_configs(image, settings, topic.name, requested) if requested else {}


def _placed_replicas(image: Image, settings: Settings, topic: CreatableTopic) -> list[list[int]]:
    if topic.replication_factor < DEFAULT or topic.replication_factor == 0:
        message = "Replication factor must be larger than 0, or -1 to use the default value."
        raise Refusal(error_codes.INVALID_REPLICATION_FACTOR, message)
    if topic.num_partitions < DEFAULT or topic.num_partitions == 0:
        message = "Number of partitions was set to an invalid non-positive value."
        raise Refusal(error_codes.INVALID_PARTITIONS, message)
    partitions = _value_or_default(topic.num_partitions, settings.int("num.partitions"))
    factor = _value_or_default(topic.replication_factor, settings.int("default.replication.factor"))
    try:
        return replica_placement.place_replicas(image, 0, partitions, factor)
    except Refusal as refusal:
        message = f"Unable to replicate the partition {factor} time(s): {refusal.message}"
        raise Refusal(refusal.code, message) from None


def _assigned_replicas(image: Image, topic: CreatableTopic) -> list[list[int]]:
    for field, number in (("replication factor", topic.replication_factor), ("numPartitions", topic.num_partitions)):
        if number != DEFAULT:
            message = f"A manual partition assignment was specified, but {field} was not set to -1."
            raise Refusal(error_codes.INVALID_REQUEST, message)
    assigned: dict[int, list[int]] = {}
    factor: int | None = None
    for assignment in topic.assignments:
        index = assignment.partition_index
        if index in assigned:
            message = f"Found multiple manual partition assignments for partition {index}"
            raise Refusal(error_codes.INVALID_REPLICA_ASSIGNMENT, message)
        assigned[index] = replica_placement.checked_assignment(image, index, assignment.broker_ids, factor)
        factor = len(assigned[index])
    if sorted(assigned) != list(range(len(assigned))):
        message = "partitions should be a consecutive 0-based integer sequence"
        raise Refusal(error_codes.INVALID_REPLICA_ASSIGNMENT, message)
    return [assigned[index] for index in range(len(assigned))]


def _created_result(
    settings: Settings, name: str, topic_id: Uuid, configs: Records, replicas: list[list[int]], described: Descriptions
) -> Result:
    overrides = {name: value for name, value in configs.items() if value is not None}
    known = frozenset(overrides.items())
    if known not in described:
        described[known] = [
            CreateTopicsResponse.CreatableTopicConfigs(
                name=entry.name, value=entry.value, config_source=entry.source, is_sensitive=entry.sensitive
            )
            for entry in describe_new_topic(overrides, settings)
        ]
    return Result(
        name=name,
        topic_id=topic_id,
        error_message=None,
        num_partitions=len(replicas),
        replication_factor=len(replicas[0]),
        configs=described[known],
    )
