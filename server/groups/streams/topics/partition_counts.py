"""Decides how many partitions the internal topics of a topology have (KIP-1071).

A repartition topic has the count that the topology sets, else the largest count of the sources of a
subtopology that writes to it; members of a copartition group are then made equal. A changelog has
the largest count of the sources of its subtopology. A topic that exists keeps its count.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from kafkadouble.messages import error_codes

from ....requests.request import Refusal
from .copartitioned_topics_enforcer import CopartitionedTopicsEnforcer
from .sink_counts import SinkCounts
from .streams_topology import StreamsTopology, Subtopology, source_topics_of

PartitionCounts = dict[str, int]
"""Topic -> the number of its partitions."""

CountOf = Callable[[str], int | None]
"""Returns the number of partitions of a topic; None if it is not known."""

NEVER_A_SINK = (
    "Failed to compute number of partitions for all repartition topics, "
    "because a repartition source topic is never used as a sink topic."
)


def decide_partition_counts(topology: StreamsTopology, existing: CountOf) -> PartitionCounts:
    """Returns the counts of all internal topics. The source topics must exist.

    Raises TopicConfigurationError, and Refusal(STREAMS_INVALID_TOPOLOGY).
    """
    decided: PartitionCounts = {}

    def count_of(topic: str) -> int | None:
        found = existing(topic)
        return decided.get(topic) if found is None else found

    subtopologies = [*topology.subtopologies.values()]
    groups = [copartition_groups(subtopology) for subtopology in subtopologies]
    decided.update(_repartition_topics(subtopologies, count_of))
    enforcer = CopartitionedTopicsEnforcer(*_repartition_sources(subtopologies), count_of)
    for of_subtopology in groups:
        for group in of_subtopology:
            decided.update(enforcer.enforce(group))
    decided.update(_changelog_topics(subtopologies, count_of))
    return decided


def copartition_groups(subtopology: Subtopology) -> list[list[str]]:
    """Returns the topics of each copartition group, once each.

    Raises Refusal(UNKNOWN_SERVER_ERROR) for an index outside the lists of topics.
    """
    sources = subtopology.source_topics
    repartition = [info.name for info in subtopology.repartition_source_topics]
    return [
        [
            *dict.fromkeys(
                [_at(sources, index) for index in group.source_topics]
                + [_at(repartition, index) for index in group.repartition_source_topics]
            )
        ]
        for group in subtopology.copartition_groups
    ]


def _at(topics: object, index: int) -> str:
    if not 0 <= index < len(topics):  # type: ignore[arg-type]
        raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
    topic: str = topics[index]  # type: ignore[index]
    return topic


def _repartition_sources(subtopologies: Iterable[Subtopology]) -> tuple[Collection[str], Collection[str]]:
    """Returns the repartition topics whose count the topology sets, and those without a count."""
    infos = [info for subtopology in subtopologies for info in subtopology.repartition_source_topics]
    fixed = dict.fromkeys(info.name for info in infos if info.partitions)
    flexible = dict.fromkeys(info.name for info in infos if not info.partitions)
    return fixed.keys(), flexible.keys()


def _repartition_topics(subtopologies: list[Subtopology], count_of: CountOf) -> PartitionCounts:
    for subtopology in subtopologies:
        repartition = {info.name for info in subtopology.repartition_source_topics}
        if any(topic not in repartition and count_of(topic) is None for topic in subtopology.source_topics):
            raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
    counts = SinkCounts(subtopologies, count_of).decided()
    if any(info.name not in counts for subtopology in subtopologies for info in subtopology.repartition_source_topics):
        raise Refusal(error_codes.STREAMS_INVALID_TOPOLOGY, NEVER_A_SINK)
    return counts


def _changelog_topics(subtopologies: Iterable[Subtopology], count_of: CountOf) -> PartitionCounts:
    counts: PartitionCounts = {}
    for subtopology in subtopologies:
        count = number_of_tasks(subtopology, count_of)
        counts.update((info.name, count) for info in subtopology.state_changelog_topics)
    return counts


def number_of_tasks(subtopology: Subtopology, count_of: CountOf) -> int:
    """Returns the number of tasks of a subtopology: the largest count of its sources.

    Raises Refusal(STREAMS_INVALID_TOPOLOGY) if it has no source.
    """
    counts = [count_of(topic) for topic in source_topics_of(subtopology)]
    if not counts:
        message = f"No source topics found for subtopology {subtopology.subtopology_id}"
        raise Refusal(error_codes.STREAMS_INVALID_TOPOLOGY, message)
    known = [count for count in counts if count is not None]
    if len(known) < len(counts):
        raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
    return max(known)
