"""How much a broker sends to followers that are out of sync, and fetches for replicas of its own that are (KIP-73).

Rules. Two rates, of the leader's side and of the follower's. A replica is throttled whose topic lists it, by `partition:broker` or `*`. What
throttled replicas get counts, in sync or not; but only who is out of sync waits while the rate is exceeded, so that nobody falls out of sync by
it. Nothing is delayed within a request: one that is too large is made up for by the time until the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.fetch import FetchResponse

from ...metadata.image import TOPIC
from .rate import Rate

if TYPE_CHECKING:
    from ...node import Node

LEADER = ("leader.replication.throttled.rate", "leader.replication.throttled.replicas")
FOLLOWER = ("follower.replication.throttled.rate", "follower.replication.throttled.replicas")
UNLIMITED = 2**63 - 1
NOTHING_SENT = 16
"""Bytes of an answer without partitions, and its length before it."""
MOST_LISTS = 512
"""Lists whose meaning is remembered: the topics that are moved at one time mostly share a few."""

EVERY = None
NONE: frozenset[int] = frozenset()


def listed(text: str, broker: int) -> frozenset[int] | None:
    """The partitions of which a list means the replica on this broker; EVERY for `*`."""
    text = text.strip()
    if text == "*":
        return EVERY
    pairs = (pair.strip().partition(":") for pair in text.split(","))
    own = str(broker)
    return frozenset(int(index) for index, _, id in pairs if id == own and index.isdecimal())


class Throttle:
    """That of one side of a node."""

    def __init__(self, node: Node, names: tuple[str, str]) -> None:
        self._node = node
        self._rate_name, self._list_name = names
        settings = node.settings
        windows, seconds = (
            settings.int("replication.quota.window.num"),
            settings.int("replication.quota.window.size.seconds"),
        )
        self.rate = Rate(windows, seconds * 1000)
        self._lists: dict[str, frozenset[int] | None] = {}

    def is_throttled(self, topic: str, index: int) -> bool:
        """Whether the replica of this broker is listed."""
        text = self._node.controller.image.config_overrides(TOPIC, topic).get(self._list_name)
        if text is None:
            return False
        partitions = self._partitions(text)
        return partitions is EVERY or index in partitions

    def _partitions(self, text: str) -> frozenset[int] | None:
        if text not in self._lists:
            if len(self._lists) >= MOST_LISTS:
                self._lists.clear()
            self._lists[text] = listed(text, self._node.id)
        return self._lists[text]

    def is_exceeded(self) -> bool:
        """Whether more went than may."""
        bound = self._node.settings.int(self._rate_name)
        return bound != UNLIMITED and self.rate.measured(self._node.now) > bound

    def fetched(self, topic: str, index: int, size: int) -> None:
        """So many bytes came for a replica."""
        if self.is_throttled(topic, index):
            self.rate.record(size, self._node.now)

    def sent(self, response: FetchResponse, version: int) -> None:
        """This goes to a follower: what it has of throttled replicas counts, with all that an answer has besides. One that has nothing of them
        counts, too, for what it is without partitions, so that the rate of a leader is never that of a moment (as in Apache Kafka)."""
        topics = [
            FetchResponse.FetchableTopicResponse(topic=topic.topic, topic_id=topic.topic_id, partitions=partitions)
            for topic in response.responses
            if (partitions := [one for one in topic.partitions if self.is_throttled(topic.topic, one.partition_index)])
        ]
        size = sum(len(part) for part in FetchResponse(responses=topics).parts(version)) if topics else NOTHING_SENT
        self.rate.record(size, self._node.now)

    def __repr__(self) -> str:
        return f"{self._rate_name}: {self.rate!r}"


class Throttles:
    """Both of a node."""

    def __init__(self, node: Node) -> None:
        self.leader, self.follower = Throttle(node, LEADER), Throttle(node, FOLLOWER)
