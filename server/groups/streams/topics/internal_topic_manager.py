"""Configures a topology against the topics that exist (Kafka: `InternalTopicManager`).

Source topics must exist. Internal topics that are missing are to be created with the partition
counts decided here; those that exist must have these counts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from kafkadouble.messages import error_codes

from ....java.hash_tables import hash_map_order, string_hash
from ....metadata.image import Image
from ....metadata.topic_names import problem_with_name
from ....requests.request import Refusal
from ..members.distinct_keys import with_distinct_keys
from ..members.heartbeat_status import HeartbeatStatus
from .configured_topology import (
    ConfiguredInternalTopic,
    ConfiguredSubtopology,
    ConfiguredTopology,
    CreatableTopic,
)
from .partition_counts import CountOf, PartitionCounts, decide_partition_counts, number_of_tasks
from .streams_topology import StreamsTopology, Subtopology, TopicInfo
from .topic_configuration_error import TopicConfigurationError, incorrectly_partitioned_topics

TOPICS_SHOWN = 3
"""How many topics a status names."""


def configure_topics(topology: StreamsTopology, image: Image) -> ConfiguredTopology:
    """Returns the topology as the topics of the image have it.

    Raises Refusal: STREAMS_INVALID_TOPOLOGY for one that can never be configured, and
    UNKNOWN_SERVER_ERROR where Kafka fails.
    """
    try:
        _check_source_topics(topology, image)
        counts = decide_partition_counts(topology, _counts_in(image))
        subtopologies = {
            id: _configured(topology.subtopologies[id], image, counts) for id in sorted(topology.subtopologies)
        }
        missing = _missing_internal_topics(subtopologies, topology, image)
    except TopicConfigurationError as error:
        return ConfiguredTopology(topology.epoch, None, error=error)
    return ConfiguredTopology(topology.epoch, subtopologies, missing, _error_of_missing(missing))


def _error_of_missing(missing: Mapping[str, CreatableTopic]) -> TopicConfigurationError | None:
    if not missing:
        return None
    message = f"Internal topics are missing: {_summary(missing)}"
    return TopicConfigurationError(HeartbeatStatus.MISSING_INTERNAL_TOPICS, message)


def _counts_in(image: Image) -> CountOf:
    def count_of(name: str) -> int | None:
        topic = image.topic_named(name)
        return None if topic is None else len(topic.partitions)

    return count_of


def _check_source_topics(topology: StreamsTopology, image: Image) -> None:
    sources = {topic for subtopology in topology.subtopologies.values() for topic in subtopology.source_topics}
    missing = sorted(topic for topic in sources if image.topic_named(topic) is None)
    if missing:
        message = f"Source topics {_summary(missing)} are missing."
        raise TopicConfigurationError(HeartbeatStatus.MISSING_SOURCE_TOPICS, message)


def _summary(topics: Collection[str]) -> str:
    more = len(topics) - TOPICS_SHOWN
    shown = ", ".join([*topics][:TOPICS_SHOWN])
    return f"{shown} and {more} additional topics" if more > 0 else shown


def _configured(subtopology: Subtopology, image: Image, counts: PartitionCounts) -> ConfiguredSubtopology:
    existing = _counts_in(image)

    def count_of(topic: str) -> int | None:
        found = existing(topic)
        return counts.get(topic) if found is None else found

    return ConfiguredSubtopology(
        number_of_tasks(subtopology, count_of),
        frozenset(subtopology.source_topics),
        _internal_topics(subtopology.repartition_source_topics, counts),
        frozenset(subtopology.repartition_sink_topics),
        _internal_topics(subtopology.state_changelog_topics, counts),
    )


def _internal_topics(infos: Iterable[TopicInfo], counts: PartitionCounts) -> Mapping[str, ConfiguredInternalTopic]:
    by_name = with_distinct_keys((info.name, _internal_topic(info, counts)) for info in infos)
    return {name: by_name[name] for name in hash_map_order(by_name, string_hash)}


def _internal_topic(info: TopicInfo, counts: PartitionCounts) -> ConfiguredInternalTopic:
    count = info.partitions or counts.get(info.name, 0)
    if count < 1 or problem_with_name(info.name) is not None:
        raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
    configs = with_distinct_keys((config.key, config.value) for config in info.topic_configs)
    return ConfiguredInternalTopic(info.name, count, info.replication_factor, configs)


def _missing_internal_topics(
    subtopologies: Mapping[str, ConfiguredSubtopology], topology: StreamsTopology, image: Image
) -> Mapping[str, CreatableTopic]:
    """Returns topic -> how to create it. The order is that of Kafka's map, which members see."""
    needed = {topic.name: topic for subtopology in subtopologies.values() for topic in subtopology.internal_topics}
    missing = dict(needed)
    for name in hash_map_order(topology.required_topics, string_hash):
        found, expected = image.topic_named(name), missing.get(name)
        if found is None or expected is None:
            continue
        if len(found.partitions) != expected.partitions:
            raise incorrectly_partitioned_topics(
                f"Existing topic {name} has different number of partitions: "
                f"expected {expected.partitions}, found {len(found.partitions)}"
            )
        del missing[name]
    return {name: missing[name].creatable() for name in hash_map_order(needed, string_hash) if name in missing}
