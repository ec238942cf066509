"""The brokers of a Kafka that runs elsewhere: what stands for the `Broker` or `Cluster` of a
double.

Rules. What a verb needs of a double beyond what is here cannot be read by requests:
`OnlyOnDouble` says so. State is read when it is needed, and kept until `settle`, which every verb
calls, or until a request that may change it. Topics that were created by requests of this object
are remembered, so that a test can remove them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, NamedTuple

from kafkadouble.common.errors import KafkaError
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.messages.message import Message
from kafkadouble.pipeline.client.names import BrokerEndpoint
from kafkadouble.server.metadata.image import TOPIC
from kafkadouble.server.network.clock import SystemClock

from .connections import KafkaConnections
from .remote_image import RemoteImage
from .remote_log import RemotePartition
from .served import only_inside

SETTLE_S, LOOK_S = 5.0, 0.02
"""How long brokers may take to learn about a change of the metadata, and how often they are
asked."""

MOVED = (
    error_codes.NOT_LEADER_OR_FOLLOWER,
    error_codes.UNKNOWN_TOPIC_OR_PARTITION,
    error_codes.UNKNOWN_TOPIC_ID,
    error_codes.LEADER_NOT_AVAILABLE,
    error_codes.FENCED_LEADER_EPOCH,
)
"""The errors of a leader that has not learnt yet that it is one: nothing was appended."""


class RemoteNode(NamedTuple):
    """The node of a broker. `partitions` has the partitions that it leads."""

    id: int
    partitions: RemotePartitions
    tls: None = None

    def __getattr__(self, name: str) -> Any:
        raise only_inside(name, f"broker {self.id}")


class RemotePartitions(NamedTuple):
    """The partitions that a broker leads."""

    cluster: RemoteCluster
    broker: int

    def of_topic(self, topic: str) -> dict[int, RemotePartition]:
        """The partitions of a topic, by index."""
        image = self.cluster.image.topic_named(topic)
        led = {} if image is None else {i: each for i, each in image.partitions.items() if each.leader == self.broker}
        found = {index: self.cluster.leading(topic, index) for index in led}
        return {index: each[1] for index, each in found.items() if each is not None}


class RemoteMember(NamedTuple):
    """A broker of the Kafka."""

    node: RemoteNode
    endpoint: BrokerEndpoint
    clock: SystemClock

    def settle(self) -> None:
        """Does nothing: nothing is pending here."""


class RemoteCluster:
    """The brokers behind these connections."""

    def __init__(self, connections: KafkaConnections) -> None:
        self.connections, self.clock = connections, SystemClock()
        self.created = set[str]()
        self._image: RemoteImage | None = None

    @property
    def image(self) -> RemoteImage:
        """The metadata."""
        if self._image is None:
            self._image = RemoteImage(self.connections.ask)
        return self._image

    @property
    def members(self) -> list[RemoteMember]:
        """The brokers that are not fenced."""
        return [self._member(broker.id, broker.endpoint) for broker in self.image.live_brokers()]

    def _member(self, id: int, endpoint: BrokerEndpoint) -> RemoteMember:
        return RemoteMember(RemoteNode(id, RemotePartitions(self, id)), endpoint, self.clock)

    def member(self, id: int) -> RemoteMember | None:
        """The broker with this id."""
        return next((member for member in self.members if member.node.id == id), None)

    def settle(self) -> None:
        """Forgets what was read."""
        self._image = None

    def leading(self, topic: str, index: int) -> tuple[RemoteMember, RemotePartition] | None:
        """A partition, and the broker that leads it; None if there is no such partition. Raises
        KafkaError if no broker leads it."""
        found = self.image.topic_named(topic)
        if found is None or index not in found.partitions:
            return None
        image = found.partitions[index]
        leader = self.image.brokers.get(image.leader)
        if leader is None:
            raise KafkaError(error_codes.LEADER_NOT_AVAILABLE, f"no broker leads {topic}-{index}")
        ask = partial(self.connections.ask, at=leader.endpoint)
        configs = partial(self.image.config_overrides, TOPIC, topic)
        partition = RemotePartition(topic, found.id, index, image.leader_epoch, ask, configs)
        return self._member(leader.id, leader.endpoint), partition

    def ask(self, body: Message, at: RemoteMember | None = None) -> Future[Any]:
        """The response of this broker, or of any, as a future that is done."""
        answer: Future[Any] = Future()
        try:
            answer.set_result(self._answer(body, None if at is None else at.endpoint))
        except KafkaError as problem:
            answer.set_exception(problem)
        self.settle()
        return answer

    def _answer(self, body: Message, at: BrokerEndpoint | None) -> Any:
        if isinstance(body, ProduceRequest):
            return self._repeated(body, at, _is_refused)
        if isinstance(body, MetadataRequest) and body.allow_auto_topic_creation:
            answer = self._repeated(body, at, _is_absent)
            self.created |= {topic.name for topic in answer.topics if not topic.error_code}
            return answer
        answer = self.connections.ask(body, at)
        if isinstance(body, CreateTopicsRequest):
            self.created |= {topic.name for topic in answer.topics if not topic.error_code}
        return answer

    def _repeated(self, body: Message, at: BrokerEndpoint | None, is_early: Callable[[Any], bool]) -> Any:
        """The response, once brokers have learnt about a topic that was created just now."""
        end = time.monotonic() + SETTLE_S
        while is_early(answer := self.connections.ask(body, at)) and time.monotonic() < end:
            time.sleep(LOOK_S)
        return answer

    def wait_until_all_know(self, topic: str, partitions: int = 1) -> None:
        """Waits until each broker knows a topic with so many partitions, and their leaders: a
        client may ask any of them."""
        request = _to_describe(topic)
        self._wait(
            lambda: all(_knows(self.connections.ask(request, member.endpoint), partitions) for member in self.members)
        )

    def wait_until_none_knows(self, topic: str) -> None:
        """Waits until no broker knows a topic any more."""
        self._wait(
            lambda: all(
                self.connections.ask(_to_describe(topic), each.endpoint).topics[0].error_code for each in self.members
            )
        )

    def _wait(self, is_so: Callable[[], bool]) -> None:
        end = time.monotonic() + SETTLE_S
        while not is_so() and time.monotonic() < end:
            time.sleep(LOOK_S)
        self.settle()

    def __getattr__(self, name: str) -> Any:
        raise only_inside(name, repr(self))

    def __repr__(self) -> str:
        return f"brokers behind {self.connections!r}"


def _to_describe(topic: str) -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)


def _knows(answer: Any, partitions: int) -> bool:
    (topic,) = answer.topics
    is_complete = not topic.error_code and len(topic.partitions) >= partitions
    return is_complete and all(each.leader_id >= 0 for each in topic.partitions)


def _is_absent(answer: Any) -> bool:
    """Whether a topic is being created, or may not be."""
    retriable = (error_codes.UNKNOWN_TOPIC_OR_PARTITION, error_codes.LEADER_NOT_AVAILABLE)
    return any(topic.error_code in retriable for topic in answer.topics)


def _is_refused(answer: Any) -> bool:
    return any(response.error_code in MOVED for topic in answer.responses for response in topic.partition_responses)
