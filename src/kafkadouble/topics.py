"""The topics of a cluster as values: their partitions, configs and offsets. Call every function on
the loop's thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kafkadouble.server.metadata.image import TOPIC, TopicImage
from kafkadouble.server.metadata.internal_topics import INTERNAL_TOPICS

from .arguments import check
from .partition_state import PartitionState, partition_state
from .placement import partitions_of

if TYPE_CHECKING:
    from .broker import Broker
    from .cluster import Cluster


class TopicDescription(NamedTuple):
    """One topic. `configs` are those that were set for it, `partitions` are by index."""

    name: str
    id: str
    is_internal: bool
    partitions: dict[int, PartitionState]
    configs: dict[str, str]


def topics(broker: Broker | Cluster, internal: bool) -> dict[str, TopicDescription]:
    """The topics by name, in the order of the alphabet."""
    check(internal=internal)
    broker.settle()
    names = sorted(name for name in broker.image.topic_ids if internal or name not in INTERNAL_TOPICS)
    found = (broker.image.topic_named(name) for name in names)
    return {topic.name: _topic(broker, topic) for topic in found if topic is not None}


def _topic(broker: Broker | Cluster, topic: TopicImage) -> TopicDescription:
    configs = dict(sorted(broker.image.config_overrides(TOPIC, topic.name).items()))
    partitions = {index: partition_state(broker, topic.name, index) for index in sorted(topic.partitions)}
    return TopicDescription(topic.name, str(topic.id), topic.name in INTERNAL_TOPICS, partitions, configs)


def offsets(broker: Broker | Cluster, topic: str, latest: bool = True) -> dict[int, int]:
    """The high watermark of each partition, or its log start offset."""
    found = {}
    for index in partitions_of(broker, topic):
        leading = broker.leading(topic, index)
        assert leading is not None
        log = leading[1].log
        found[index] = log.high_watermark if latest else log.log_start_offset
    return found
