"""The topology of the simulated application: it counts the records of one topic by other keys, and
perhaps reads another topic, which is made later and gets partitions."""

from __future__ import annotations

from collections.abc import Sequence

from kafkadouble.messages.generated.streams_group_heartbeat import StreamsGroupHeartbeatRequest

from ...shape import TOPIC

LATE = "late"
REPARTITION, CHANGELOG = "counts-repartition", "counts-changelog"
"""The internal topics. They have as many partitions as TOPIC."""

READS, COUNTS, READS_LATE = "0", "1", "2"
"""The subtopologies, each with a task for each partition that it reads."""

_of = StreamsGroupHeartbeatRequest


def topology(sources: Sequence[str]) -> StreamsGroupHeartbeatRequest.Topology:
    """The topology of an application that reads these topics."""
    found = [
        _of.Subtopology(subtopology_id=READS, source_topics=[TOPIC], repartition_sink_topics=[REPARTITION]),
        _of.Subtopology(
            subtopology_id=COUNTS,
            repartition_source_topics=[_of.TopicInfo(name=REPARTITION)],
            state_changelog_topics=[_of.TopicInfo(name=CHANGELOG)],
        ),
    ]
    if LATE in sources:
        found.append(_of.Subtopology(subtopology_id=READS_LATE, source_topics=[LATE]))
    return _of.Topology(epoch=1, subtopologies=found)
