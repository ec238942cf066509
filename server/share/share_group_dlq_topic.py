"""Which topic is the dead-letter queue of a share group, and whether it may be (KIP-1191).

Rules. The topic does not begin with "__", and begins with the prefix that the broker demands. If it
exists, its own configuration allows share groups to use it; if not, the broker may create it. The
records of a partition go to the partition with the same number, counted around.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.uuid import Uuid

from ..configs.effective import topic_value
from ..configs.own import TOPIC_HERE
from ..configs.settings import Settings
from ..metadata.image import TOPIC, Image, TopicImage
from ..requests.request import Refusal

CreatableTopic = CreateTopicsRequest.CreatableTopic
CreatableTopicConfig = CreateTopicsRequest.CreatableTopicConfig

ENABLE = "errors.deadletterqueue.group.enable"
MAX_MESSAGE_BYTES = "max.message.bytes"
CONTROLLER_DEFAULT = -1

CONFIGS_OF_CREATED = {ENABLE: "true", "message.timestamp.type": "CreateTime"}
"""The configurations of a dead-letter topic that a broker creates."""


class DeadLetterPartition(NamedTuple):
    """A partition of a dead-letter topic, and the broker that leads it."""

    topic: str
    topic_id: Uuid
    partition: int
    leader: int


def check_dlq_topic(image: Image, settings: Settings, name: str) -> None:
    """Refusal(INVALID_CONFIG) if the topic may not be a dead-letter queue."""
    problem = _problem(image, settings, name)
    if problem is not None:
        raise Refusal(error_codes.INVALID_CONFIG, problem)


def _problem(image: Image, settings: Settings, name: str) -> str | None:
    if not name:
        return "the group has no dead-letter topic"
    if name.startswith("__"):
        return f"{name!r} begins with '__'"
    if image.topic_named(name) is None:
        if not settings.bool("errors.deadletterqueue.auto.create.topics.enable"):
            return f"topic {name!r} does not exist, and may not be created"
    elif not topic_value(TOPIC_HERE[ENABLE], image.config_overrides(TOPIC, name), settings):
        return f"topic {name!r} has {ENABLE}=false"
    prefix = settings["errors.deadletterqueue.topic.name.prefix"] or ""
    return None if name.startswith(str(prefix)) else f"{name!r} does not begin with {prefix!r}"


def partition_for(topic: TopicImage, partition: int) -> DeadLetterPartition:
    """The partition that receives the records of the partition with this number."""
    index = partition % len(topic.partitions)
    return DeadLetterPartition(topic.name, topic.id, index, topic.partitions[index].leader)


def creatable_dlq_topic(name: str) -> CreatableTopic:
    """The CreateTopics entry for a dead-letter topic."""
    configs = [CreatableTopicConfig(name=config, value=value) for config, value in CONFIGS_OF_CREATED.items()]
    return CreatableTopic(
        name=name, num_partitions=CONTROLLER_DEFAULT, replication_factor=CONTROLLER_DEFAULT, configs=configs
    )


def max_message_bytes(image: Image, settings: Settings, name: str) -> int:
    """The largest batch that the topic takes."""
    return int(str(topic_value(TOPIC_HERE[MAX_MESSAGE_BYTES], image.config_overrides(TOPIC, name), settings)))
