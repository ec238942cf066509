"""The topology of a streams group, as its first member sent it (KIP-1071).

It is the value of the topology record. A topology is compared by its epoch and by each subtopology.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.streams_group_describe import StreamsGroupDescribeResponse
from kafkadouble.messages.generated.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from kafkadouble.messages.generated.streams_group_topology_record import StreamsGroupTopologyValue

from ....java.hash_tables import hash_map_order, string_hash
from ....requests.request import Refusal
from ..members.distinct_keys import with_distinct_keys

Subtopology = StreamsGroupTopologyValue.Subtopology
TopicInfo = StreamsGroupTopologyValue.TopicInfo
DescribedTopicInfo = StreamsGroupDescribeResponse.TopicInfo


class StreamsTopology:
    """A topology; `subtopologies` maps subtopology id -> subtopology, in the order of Kafka's map:
    of two subtopologies that write to one repartition topic, the first decides its partitions."""

    def __init__(self, value: StreamsGroupTopologyValue) -> None:
        """Raises Refusal(UNKNOWN_SERVER_ERROR) for a negative epoch or a repeated subtopology."""
        if value.epoch < 0:
            raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
        self.epoch = value.epoch
        by_id = with_distinct_keys((subtopology.subtopology_id, subtopology) for subtopology in value.subtopologies)
        self.subtopologies: Mapping[str, Subtopology] = {id: by_id[id] for id in hash_map_order(by_id, string_hash)}
        self.subtopology_of_source_topic = {
            topic: subtopology for subtopology in self.subtopologies.values() for topic in source_topics_of(subtopology)
        }
        """Topic -> the subtopology that reads it; repartition topics included."""

    @classmethod
    def requested(cls, topology: StreamsGroupHeartbeatRequest.Topology) -> StreamsTopology:
        """Reads the topology of a heartbeat."""
        return cls(topology_value(topology))

    @property
    def required_topics(self) -> dict[str, None]:
        """Returns the topics that must exist: sources, repartition topics and changelogs."""
        return dict.fromkeys(
            topic
            for subtopology in self.subtopologies.values()
            for topic in (*source_topics_of(subtopology), *(info.name for info in subtopology.state_changelog_topics))
        )

    def described(self) -> StreamsGroupDescribeResponse.Topology:
        """Returns the topology as StreamsGroupDescribe shows it."""
        return StreamsGroupDescribeResponse.Topology(
            epoch=self.epoch, subtopologies=[_described(each) for _, each in sorted(self.subtopologies.items())]
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StreamsTopology):
            return NotImplemented
        return self.epoch == other.epoch and self.subtopologies == other.subtopologies

    __hash__ = None  # type: ignore[assignment]  # compared by the messages in it

    def __repr__(self) -> str:
        return f"topology in epoch {self.epoch} with {len(self.subtopologies)} subtopologies"


def source_topics_of(subtopology: Subtopology) -> list[str]:
    """Returns the topics that the subtopology reads, repartition topics last."""
    return [*subtopology.source_topics, *(info.name for info in subtopology.repartition_source_topics)]


def topology_value(topology: StreamsGroupHeartbeatRequest.Topology) -> StreamsGroupTopologyValue:
    """Returns the record's value for the topology of a heartbeat."""
    return StreamsGroupTopologyValue(
        epoch=topology.epoch, subtopologies=[_recorded(subtopology) for subtopology in topology.subtopologies]
    )


def _recorded(subtopology: StreamsGroupHeartbeatRequest.Subtopology) -> Subtopology:
    return Subtopology(
        subtopology_id=subtopology.subtopology_id,
        source_topics=subtopology.source_topics,
        source_topic_regex=subtopology.source_topic_regex,
        state_changelog_topics=[_recorded_info(topic) for topic in subtopology.state_changelog_topics],
        repartition_sink_topics=subtopology.repartition_sink_topics,
        repartition_source_topics=[_recorded_info(topic) for topic in subtopology.repartition_source_topics],
        copartition_groups=[
            StreamsGroupTopologyValue.CopartitionGroup(
                source_topics=group.source_topics,
                source_topic_regex=group.source_topic_regex,
                repartition_source_topics=group.repartition_source_topics,
            )
            for group in subtopology.copartition_groups
        ],
    )


def _recorded_info(info: StreamsGroupHeartbeatRequest.TopicInfo) -> TopicInfo:
    return TopicInfo(
        name=info.name,
        partitions=info.partitions,
        replication_factor=info.replication_factor,
        topic_configs=[
            StreamsGroupTopologyValue.TopicConfig(key=config.key, value=config.value) for config in info.topic_configs
        ],
    )


def _described(subtopology: Subtopology) -> StreamsGroupDescribeResponse.Subtopology:
    return StreamsGroupDescribeResponse.Subtopology(
        subtopology_id=subtopology.subtopology_id,
        source_topics=sorted(subtopology.source_topics),
        repartition_sink_topics=sorted(subtopology.repartition_sink_topics),
        repartition_source_topics=_described_infos(subtopology.repartition_source_topics),
        state_changelog_topics=_described_infos(subtopology.state_changelog_topics),
    )


def _described_infos(infos: Sequence[TopicInfo]) -> list[DescribedTopicInfo]:
    return [
        DescribedTopicInfo(
            name=info.name,
            partitions=info.partitions,
            replication_factor=info.replication_factor,
            topic_configs=[
                StreamsGroupDescribeResponse.KeyValue(key=config.key, value=config.value)
                for config in info.topic_configs
            ],
        )
        for info in sorted(infos, key=lambda info: info.name)
    ]
