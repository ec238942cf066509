"""A simulated client that is written as one generator: it yields a request and gets the answer, or
yields a pause in ms. A dead client does nothing more; its requests may still arrive. It never
believes a leader epoch older than one it has seen (KIP-320)."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.message import Message
from kafkadouble.server.raft.request_manager import RequestFailure

from ...world import World
from ..client import BACKOFF_MS, METADATA_VERSION, TIMEOUT_MS
from ..shape import Shape
from ..wires import Wires

FIND_VERSION = 4


class Asked(NamedTuple):
    """A request to a broker."""

    to: int
    body: Message
    version: int


Steps = Generator["Asked | int", Any, Any]
"""Yields requests and pauses. The answer to a request is None when there was none."""


class SteppedHost(Protocol):
    """What every such client needs of its cluster."""

    @property
    def world(self) -> World: ...
    @property
    def wires(self) -> Wires: ...
    @property
    def shape(self) -> Shape: ...


H = TypeVar("H", bound=SteppedHost)


class SteppedClient(Generic[H]):
    """One client, with its own knowledge of coordinators and leaders."""

    def __init__(self, cluster: H, id: int) -> None:
        self.cluster, self.world, self.random, self.id = cluster, cluster.world, cluster.world.random, id
        self.is_over = False
        self._coordinators: dict[tuple[int, str], int] = {}
        self._leaders: dict[tuple[str, int], int] = {}
        self._leader_epochs: dict[tuple[str, int], int] = {}
        self._steps = self.steps()

    def steps(self) -> Steps:
        """The life of the client."""
        raise NotImplementedError

    def begin(self) -> None:
        self._go_on(None)

    def die(self) -> None:
        self.is_over = True

    def _go_on(self, answer: Any) -> None:
        if self.is_over:
            return
        try:
            step = self._steps.send(answer)
        except StopIteration:
            self.is_over = True
            return
        if isinstance(step, int):
            self.world.after(step, lambda: self._go_on(None))
            return

        def answered(answer: Message | RequestFailure) -> None:
            self._go_on(None if isinstance(answer, RequestFailure) else answer)

        self.cluster.wires.ask(self.id, step.to, step.body, step.version, answered, TIMEOUT_MS, at_broker=True)

    def any_broker(self) -> int:
        return self.random.choice(self.cluster.shape.broker_ids)

    def pause(self) -> Steps:
        """The pause before a request is repeated."""
        yield BACKOFF_MS + self.random.randint(0, 20)

    def coordinator(self, key_type: int, key: str) -> Steps:
        """Returns the coordinator; asks brokers until one knows it."""
        while (key_type, key) not in self._coordinators:
            body = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])
            answer = yield Asked(self.any_broker(), body, FIND_VERSION)
            if answer is not None and not answer.coordinators[0].error_code:
                self._coordinators[key_type, key] = answer.coordinators[0].node_id
            else:
                yield from self.pause()
        return self._coordinators[key_type, key]

    def forget_coordinator(self, key_type: int, key: str) -> None:
        self._coordinators.pop((key_type, key), None)

    def leader(self, topic: str, index: int) -> Steps:
        """Returns the leader of a partition; asks brokers until one knows it."""
        of = MetadataRequest
        body = of(topics=[of.MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)
        while (topic, index) not in self._leaders:
            answer = yield Asked(self.any_broker(), body, METADATA_VERSION)
            for found in () if answer is None else answer.topics:
                for each in found.partitions:
                    self._learn((topic, each.partition_index), each.leader_id, each.leader_epoch)
            if (topic, index) not in self._leaders:
                yield from self.pause()
        return self._leaders[topic, index]

    def _learn(self, place: tuple[str, int], leader: int, leader_epoch: int) -> None:
        if leader >= 0 and leader_epoch >= self._leader_epochs.get(place, -1):
            self._leaders[place], self._leader_epochs[place] = leader, leader_epoch

    def forget_leader(self, topic: str, index: int) -> None:
        self._leaders.pop((topic, index), None)
