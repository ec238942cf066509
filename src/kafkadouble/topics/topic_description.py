"""The topics of a cluster as values: their partitions, configs and offsets. Call every function on
the loop's thread."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from kafkadouble.arguments.parameters import check
from kafkadouble.server.metadata.image import TOPIC, TopicImage
from kafkadouble.server.metadata.internal_topics import INTERNAL_TOPICS

from .partition_state import PartitionState, offsets_of_log, state_of
from .placement import partitions_of

if TYPE_CHECKING:
    from kafkadouble.engine.cluster_api import ClusterApi


class TopicDescription(NamedTuple):
    """A topic. `configs` are those that were set for it, `partitions` are by index."""

    name: str
    id: str
    is_internal: bool
    partitions: dict[int, PartitionState]
    configs: dict[str, str]


TopicState = tuple[object, ...]
"""A value that is equal as long as a description is."""


def topics(broker: ClusterApi, internal: bool) -> dict[str, TopicDescription]:
    """The topics by name, in the order of the alphabet."""
    check(internal=internal)
    broker.settle()
    names = sorted(name for name in broker.image.topic_ids if internal or name not in INTERNAL_TOPICS)
    found = (broker.image.topic_named(name) for name in names)
    return {topic.name: _topic(broker, topic, sorted(topic.partitions)) for topic in found if topic is not None}


def _topic(broker: ClusterApi, topic: TopicImage, indexes: Iterable[int]) -> TopicDescription:
    configs = dict(sorted(broker.image.config_overrides(TOPIC, topic.name).items()))
    partitions = {index: state_of(broker, topic.name, index, topic.partitions[index]) for index in indexes}
    return TopicDescription(topic.name, str(topic.id), topic.name in INTERNAL_TOPICS, partitions, configs)


def partitions_by_topic(broker: ClusterApi) -> dict[str, tuple[int, ...]]:
    """The partitions of each topic that is not internal, both sorted."""
    broker.settle()
    names = sorted(name for name in broker.image.topic_ids if name not in INTERNAL_TOPICS)
    found = (broker.image.topic_named(name) for name in names)
    return {topic.name: tuple(sorted(topic.partitions)) for topic in found if topic is not None}


def described(broker: ClusterApi, name: str, indexes: Iterable[int]) -> TopicDescription | None:
    """Some partitions of a topic; None if it does not have them all."""
    topic = _with_partitions(broker, name, indexes)
    return None if topic is None else _topic(broker, topic, indexes)


def topic_state(broker: ClusterApi, name: str, indexes: Iterable[int]) -> TopicState | None:
    """The state that a description of these partitions depends on; None if the topic lacks one."""
    topic = _with_partitions(broker, name, indexes)
    if topic is None:
        return None
    images = tuple(topic.partitions[index] for index in indexes)
    configs = tuple(sorted(broker.image.config_overrides(TOPIC, name).items()))
    return topic.id, images, configs, tuple(offsets_of_log(broker, name, index) for index in indexes)


def _with_partitions(broker: ClusterApi, name: str, indexes: Iterable[int]) -> TopicImage | None:
    topic = broker.image.topic_named(name)
    return topic if topic is not None and all(index in topic.partitions for index in indexes) else None


def offsets(broker: ClusterApi, topic: str, latest: bool = True) -> dict[int, int]:
    """The high watermark of each partition, or its log start offset."""
    found = {}
    for index in partitions_of(broker, topic):
        leading = broker.leading(topic, index)
        assert leading is not None
        log = leading[1].log
        found[index] = log.high_watermark if latest else log.log_start_offset
    return found
