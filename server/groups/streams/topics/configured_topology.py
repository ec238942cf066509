"""A topology whose internal topics have their partition counts and configurations (KIP-1071)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.streams_group_describe import StreamsGroupDescribeResponse

from .streams_topology import DescribedTopicInfo
from .topic_configuration_error import TopicConfigurationError

CreatableTopic = CreateTopicsRequest.CreatableTopic

CONTROLLER_DEFAULT = -1
"""In CreateTopics: the controller chooses the replication factor."""


class ConfiguredInternalTopic(NamedTuple):
    """A repartition topic or a changelog. A `replication_factor` of 0 is the broker's default."""

    name: str
    partitions: int
    replication_factor: int
    configs: Mapping[str, str]

    def creatable(self) -> CreatableTopic:
        """Returns the entry for this topic in a CreateTopics request."""
        return CreatableTopic(
            name=self.name,
            num_partitions=self.partitions,
            replication_factor=self.replication_factor or CONTROLLER_DEFAULT,
            configs=[
                CreateTopicsRequest.CreatableTopicConfig(name=name, value=value) for name, value in self.configs.items()
            ],
        )

    def described(self) -> DescribedTopicInfo:
        return DescribedTopicInfo(
            name=self.name,
            partitions=self.partitions,
            replication_factor=self.replication_factor,
            topic_configs=[
                StreamsGroupDescribeResponse.KeyValue(key=name, value=value) for name, value in self.configs.items()
            ],
        )


class ConfiguredSubtopology(NamedTuple):
    """`number_of_tasks` is the number of partitions of the source topic with the most
    partitions."""

    number_of_tasks: int
    source_topics: frozenset[str]
    repartition_source_topics: Mapping[str, ConfiguredInternalTopic]
    repartition_sink_topics: frozenset[str]
    state_changelog_topics: Mapping[str, ConfiguredInternalTopic]

    @property
    def internal_topics(self) -> list[ConfiguredInternalTopic]:
        return [*self.repartition_source_topics.values(), *self.state_changelog_topics.values()]

    @property
    def all_source_topics(self) -> list[str]:
        """Returns the topics whose partitions its tasks read."""
        return sorted(self.source_topics | self.repartition_source_topics.keys())

    def described(self, id: str) -> StreamsGroupDescribeResponse.Subtopology:
        return StreamsGroupDescribeResponse.Subtopology(
            subtopology_id=id,
            source_topics=sorted(self.source_topics),
            repartition_sink_topics=sorted(self.repartition_sink_topics),
            repartition_source_topics=_described(self.repartition_source_topics),
            state_changelog_topics=_described(self.state_changelog_topics),
        )


def _described(topics: Mapping[str, ConfiguredInternalTopic]) -> list[DescribedTopicInfo]:
    return [topics[name].described() for name in sorted(topics)]


class ConfiguredTopology(NamedTuple):
    """`subtopologies` is None while source topics are missing or their partition counts differ.
    `error` is the reason why the topology is not ready.

    Missing internal topics are an error as well; then `subtopologies` is known.
    """

    epoch: int
    subtopologies: Mapping[str, ConfiguredSubtopology] | None
    internal_topics_to_create: Mapping[str, CreatableTopic] = {}
    error: TopicConfigurationError | None = None

    @property
    def is_ready(self) -> bool:
        """Returns whether all topics exist with the required partition counts."""
        return self.error is None

    def described(self) -> StreamsGroupDescribeResponse.Topology:
        """Returns the topology as StreamsGroupDescribe shows it."""
        subtopologies = self.subtopologies or {}
        return StreamsGroupDescribeResponse.Topology(
            epoch=self.epoch, subtopologies=[each.described(id) for id, each in sorted(subtopologies.items())]
        )
