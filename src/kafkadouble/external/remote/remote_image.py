"""The metadata of a Kafka, read by requests when a part of it is needed: what stands for an `Image`
of a double.

Rules. Each part is read once. The owner makes a new image after each change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from kafkadouble.common.errors import raise_for
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_configs import DescribeConfigsRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.pipeline.client.names import BrokerEndpoint
from kafkadouble.server.metadata.image import TOPIC, PartitionImage, TopicImage
from kafkadouble.server.metadata.persistent_map import PersistentMap

ABSENT = (
    error_codes.UNKNOWN_TOPIC_OR_PARTITION,
    error_codes.INVALID_TOPIC_EXCEPTION,
    error_codes.LEADER_NOT_AVAILABLE,
)
"""The errors of a topic that does not exist, or that is being created."""

OF_RESOURCE = {TOPIC: 1, 16: 7, 32: 8}
"""The source in DescribeConfigs of what was set for a resource, by its type."""


class RemoteBroker(NamedTuple):
    """A broker in the metadata."""

    id: int
    endpoint: BrokerEndpoint


class RemoteImage:
    """`ask` gets the response of any broker to a request."""

    def __init__(self, ask: Callable[[Message], Any]) -> None:
        self._ask = ask
        self._topics: dict[str, TopicImage | None] = {}
        self._configs: dict[tuple[int, str], dict[str, str]] = {}

    def topic_named(self, name: str) -> TopicImage | None:
        """A topic; None if there is none of this name."""
        if name not in self._topics:
            self._topics[name] = None
            answer = self._metadata([MetadataRequest.MetadataRequestTopic(name=name)])
            for topic in answer.topics:
                if topic.error_code not in ABSENT:
                    raise_for(topic.error_code, f"the topic {name}: {error_codes.meaning(topic.error_code)}")
                    self._topics[name] = _topic(topic)
        return self._topics[name]

    @cached_property
    def topics(self) -> dict[Uuid, TopicImage]:
        """All topics, by id."""
        found = [_topic(topic) for topic in self._metadata(None).topics if not topic.error_code]
        self._topics |= {topic.name: topic for topic in found}
        return {topic.id: topic for topic in found}

    @property
    def topic_ids(self) -> Mapping[str, Uuid]:
        """The ids of topics, by name."""
        return RemoteTopicIds(self)

    @cached_property
    def brokers(self) -> dict[int, RemoteBroker]:
        """The brokers that are not fenced."""
        found = self._metadata([]).brokers
        return {each.node_id: RemoteBroker(each.node_id, BrokerEndpoint(each.host, each.port)) for each in found}

    def live_brokers(self) -> list[RemoteBroker]:
        """The same, by id."""
        return sorted(self.brokers.values())

    def config_overrides(self, resource_type: int, name: str) -> dict[str, str]:
        """The settings that were set for a resource. Secrets are left out."""
        if (resource_type, name) not in self._configs:
            resource = DescribeConfigsRequest.DescribeConfigsResource(
                resource_type=resource_type, resource_name=name, configuration_keys=None
            )
            (answer,) = self._ask(DescribeConfigsRequest(resources=[resource])).results
            raise_for(answer.error_code, answer.error_message)
            own = OF_RESOURCE.get(resource_type)
            self._configs[resource_type, name] = {
                each.name: each.value for each in answer.configs if each.config_source == own and each.value is not None
            }
        return self._configs[resource_type, name]

    def _metadata(self, topics: Any) -> Any:
        return self._ask(MetadataRequest(topics=topics, allow_auto_topic_creation=False))


class RemoteTopicIds(Mapping[str, Uuid]):
    """The ids of topics, by name: one topic is requested alone."""

    def __init__(self, image: RemoteImage) -> None:
        self._image = image

    def __getitem__(self, name: str) -> Uuid:
        found = self._image.topic_named(name)
        if found is None:
            raise KeyError(name)
        return found.id

    def __iter__(self) -> Iterator[str]:
        return iter([topic.name for topic in self._image.topics.values()])

    def __len__(self) -> int:
        return len(self._image.topics)


def _topic(answer: Any) -> TopicImage:
    partitions = {each.partition_index: _partition(each) for each in answer.partitions}
    return TopicImage(answer.name, Uuid(answer.topic_id), PersistentMap(partitions))


def _partition(answer: Any) -> PartitionImage:
    return PartitionImage(
        tuple(answer.replica_nodes), (), tuple(answer.isr_nodes), answer.leader_id, answer.leader_epoch, -1
    )
