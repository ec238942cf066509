"""Watches the controllers' decisions: the image of the cluster, and that no life uses an identity
of an earlier one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.metadata.image import EMPTY, BrokerImage, Image, TopicImage

from ..brokers.member import Member
from ..world import Broken

if TYPE_CHECKING:
    from .cluster import Cluster


class Watch:
    """`image` is what the controllers have committed last."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster, self._world = cluster, cluster.world
        self.image: Image = EMPTY
        self.deaths = 0
        self._found: Broken | None = None
        self._incarnations: dict[Uuid, tuple[int, int]] = {}  # the broker, and its epoch
        self._topics: dict[Uuid, str] = {}
        self._epochs: dict[int, set[int]] = {}  # all broker epochs that a broker ever had
        # The broker epochs of the present life of a node, newest last.
        self._lives: dict[int, list[int]] = {}

    def started(self, member: Member) -> None:
        self._lives[member.id] = []
        if member.is_controller and member.node is not None:
            member.node.controller.listeners.append(self._decided)
            self._decided(EMPTY, member.node.controller.image, None)

    def loses_power(self, member: Member) -> None:
        self.deaths += 1
        self._cluster.power_lost()

    def look(self, member: Member) -> None:
        """Raises Broken when the controllers decided something forbidden."""
        if self._found is not None:
            raise self._found

    def _decided(self, before: Image, after: Image, records: Any) -> None:
        if (after.end.epoch, after.end.offset) <= (self.image.end.epoch, self.image.end.offset):
            return  # another controller has shown it already
        known, self.image = self.image, after
        if known.brokers is not after.brokers:
            for broker in after.brokers.values():
                self._registered(broker)
        if known.topics is not after.topics:
            for topic in after.topics.values():
                self._made(topic)

    def _registered(self, broker: BrokerImage) -> None:
        found = broker.id, broker.epoch
        known = self._incarnations.setdefault(broker.incarnation_id, found)
        if known != found:
            self._broken(
                f"broker {broker.id} in epoch {broker.epoch} is the incarnation of broker {known[0]} in epoch {known[1]}"
            )
        life = self._lives.setdefault(broker.id, [])
        if broker.epoch in self._epochs.setdefault(broker.id, set()):
            return
        self._world.note("broker {} is registered in epoch {}", broker.id, broker.epoch)
        self._epochs[broker.id].add(broker.epoch)
        life.append(broker.epoch)
        # A sole voter may forget a registration when its power fails.
        if len(life) > 1 and not self._cluster.shape.is_one_voter:
            self._broken(f"broker {broker.id} is registered twice in one life, in epochs {life}")

    def _made(self, topic: TopicImage) -> None:
        known = self._topics.setdefault(topic.id, topic.name)
        if known != topic.name:
            self._broken(f"topic {topic.name} has the id that topic {known} had")

    def _broken(self, what: str) -> None:
        self._found = self._found or Broken(what)
