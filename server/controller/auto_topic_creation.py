"""The requests that create topics automatically: topics that a client asks Metadata for, and the
internal topics of coordinators.

An internal topic has its own settings and configurations (KIP-98, KIP-848, KIP-932). For any other
topic the broker sends the partition count and replication factor that its settings name; the
controller decides what they leave open.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkadouble.messages.generated.create_topics import CreateTopicsRequest

from ..configs.settings import Settings
from ..metadata.internal_topics import CONSUMER_OFFSETS, SHARE_GROUP_STATE, TRANSACTION_STATE

CreatableTopic = CreateTopicsRequest.CreatableTopic


class InternalTopicSpec(NamedTuple):
    """How an internal topic is created: the prefix of its settings, and its configurations. A value
    with the prefix is the setting that has it."""

    prefix: str
    values: dict[str, str]

    def configs(self, settings: Settings) -> dict[str, str]:
        """The configurations of the topic."""
        return {
            name: str(settings.int(value)) if value.startswith(self.prefix) else value
            for name, value in self.values.items()
        }


CONTROLLER_DEFAULT = -1
"""In CreateTopics: the controller chooses this number."""


def _broker_setting(settings: Settings, name: str) -> int:
    return settings.int(name) if name in settings.given else CONTROLLER_DEFAULT


INTERNAL_TOPIC_SPECS = {
    CONSUMER_OFFSETS: InternalTopicSpec(
        "offsets.topic",
        {"compression.type": "producer", "cleanup.policy": "compact", "segment.bytes": "offsets.topic.segment.bytes"},
    ),
    TRANSACTION_STATE: InternalTopicSpec(
        "transaction.state.log",
        {
            "compression.type": "uncompressed",
            "cleanup.policy": "compact",
            "min.insync.replicas": "transaction.state.log.min.isr",
            "segment.bytes": "transaction.state.log.segment.bytes",
            "unclean.leader.election.enable": "false",
        },
    ),
    SHARE_GROUP_STATE: InternalTopicSpec(
        "share.coordinator.state.topic",
        {
            "compression.type": "producer",
            "cleanup.policy": "delete",
            "min.insync.replicas": "share.coordinator.state.topic.min.isr",
            "segment.bytes": "share.coordinator.state.topic.segment.bytes",
            "retention.ms": "-1",
        },
    ),
}


def creatable_topic(settings: Settings, name: str) -> CreatableTopic:
    """The CreateTopics entry for the topic `name`."""
    internal = INTERNAL_TOPIC_SPECS.get(name)
    if internal is None:
        return CreatableTopic(
            name=name,
            num_partitions=_broker_setting(settings, "num.partitions"),
            replication_factor=_broker_setting(settings, "default.replication.factor"),
        )
    return CreatableTopic(
        name=name,
        num_partitions=settings.int(f"{internal.prefix}.num.partitions"),
        replication_factor=settings.int(f"{internal.prefix}.replication.factor"),
        configs=[
            CreateTopicsRequest.CreatableTopicConfig(name=config, value=value)
            for config, value in internal.configs(settings).items()
        ],
    )
