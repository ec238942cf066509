"""The replication quotas of a broker: KIP-73 throttles replicas that are out of sync.

Rules. There are two rates: what the broker sends as a leader, and what it fetches as a follower. A
replica is throttled if its topic lists it, as `partition:broker` or by `*`. The bytes of throttled
replicas count, in sync or not. Only a replica that is out of sync waits while the rate is exceeded,
so no replica falls out of sync because of the quota. A response is never cut or delayed for the
quota; a large one makes the next one wait longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.fetch import FetchResponse

from ...metadata.image import TOPIC
from .sampled_rate import SampledRate

if TYPE_CHECKING:
    from ...logs.host import NodeHost

LEADER = ("leader.replication.throttled.rate", "leader.replication.throttled.replicas")
FOLLOWER = ("follower.replication.throttled.rate", "follower.replication.throttled.replicas")
UNLIMITED = 2**63 - 1
EMPTY_RESPONSE_BYTES = 16
"""The size of a response without partitions, with its length field."""
MAX_PARSED_LISTS = 512
"""How many parsed lists are cached. Topics that are moved together mostly share a few lists."""

ALL_PARTITIONS = None
NO_PARTITIONS: frozenset[int] = frozenset()


def throttled_partitions(text: str, broker: int) -> frozenset[int] | None:
    """Returns the partitions whose replica on this broker is listed; ALL_PARTITIONS for `*`."""
    text = text.strip()
    if text == "*":
        return ALL_PARTITIONS
    pairs = (pair.strip().partition(":") for pair in text.split(","))
    own = str(broker)
    return frozenset(int(index) for index, _, id in pairs if id == own and index.isdecimal())


class ReplicationQuotaManager:
    """The quota of one side, leader or follower, of a broker."""

    def __init__(self, node: NodeHost, names: tuple[str, str]) -> None:
        self._node = node
        self._rate_name, self._list_name = names
        samples = node.settings.int("replication.quota.window.num")
        length_ms = node.settings.int("replication.quota.window.size.seconds") * 1000
        self.rate = SampledRate(samples, length_ms)
        self._parsed: dict[str, frozenset[int] | None] = {}

    def is_throttled(self, topic: str, index: int) -> bool:
        """Returns whether the replica of this broker is listed."""
        text = self._node.image.config_overrides(TOPIC, topic).get(self._list_name)
        if text is None:
            return False
        if text not in self._parsed:
            if len(self._parsed) >= MAX_PARSED_LISTS:
                self._parsed.clear()
            self._parsed[text] = throttled_partitions(text, self._node.id)
        partitions = self._parsed[text]
        return partitions is ALL_PARTITIONS or index in partitions

    def is_exceeded(self) -> bool:
        """Returns whether the rate is above the quota."""
        quota = self._node.settings.int(self._rate_name)
        return quota != UNLIMITED and self.rate.measure(self._node.now) > quota

    def record_fetched(self, topic: str, index: int, size_bytes: int) -> None:
        """Counts the bytes that a follower fetched, if its replica is throttled."""
        if self.is_throttled(topic, index):
            self.rate.record(size_bytes, self._node.now)

    def record_sent(self, response: FetchResponse, version: int) -> None:
        """Counts the part of a follower's response that is about throttled replicas.

        As in Apache Kafka, a response without such replicas counts as an empty response, so that a
        leader's rate is never that of a single moment.
        """
        topics = [
            FetchResponse.FetchableTopicResponse(topic=topic.topic, topic_id=topic.topic_id, partitions=partitions)
            for topic in response.responses
            if (partitions := [one for one in topic.partitions if self.is_throttled(topic.topic, one.partition_index)])
        ]
        parts = FetchResponse(responses=topics).parts(version) if topics else ()
        self.rate.record(sum(map(len, parts)) if topics else EMPTY_RESPONSE_BYTES, self._node.now)

    def __repr__(self) -> str:
        return f"{self._rate_name}: {self.rate!r}"


class ReplicationQuotaManagers:
    """Both quotas of a broker."""

    def __init__(self, node: NodeHost) -> None:
        self.leader, self.follower = ReplicationQuotaManager(node, LEADER), ReplicationQuotaManager(node, FOLLOWER)
