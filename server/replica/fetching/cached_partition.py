"""One partition of a Fetch request, and what the fetch session last sent about it.

From version 13 on topics have ids instead of names, in the response too; a session never mixes ids
and names (KIP-516).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.uuid import Uuid

SessionKey = tuple[str | Uuid, int]
"""A partition in a session: the id or the name of its topic, and its index."""

PartitionResponse = tuple["CachedPartition", FetchResponse.PartitionData]

TOPIC_IDS_FROM = 13

ANY_EPOCH = -1
"""A current leader epoch that is not checked."""


class CachedPartition:
    """A partition of a Fetch request, as Kafka's `FetchSession.CachedPartition`.

    `sent_high_watermark` and `sent_log_start_offset` are those of the session's last response.
    `diverged` says whether the latest read found that the fetcher's log diverges from this one.
    """

    __slots__ = (
        "current_leader_epoch",
        "diverged",
        "fetch_offset",
        "index",
        "last_fetched_epoch",
        "log_start_offset",
        "max_bytes",
        "sent_high_watermark",
        "sent_log_start_offset",
        "topic",
        "topic_id",
    )

    def __init__(self, topic: str, topic_id: Uuid, requested: FetchRequest.FetchPartition) -> None:
        self.topic, self.topic_id, self.index = topic, topic_id, requested.partition
        self.sent_high_watermark = self.sent_log_start_offset = -1
        self.diverged, self.current_leader_epoch = False, ANY_EPOCH
        self.update_request(requested)

    def update_request(self, requested: FetchRequest.FetchPartition) -> None:
        """Applies what a later request says.

        With another leader epoch, the fetcher may have discarded the last response, so the high
        watermark is sent again.
        """
        self.fetch_offset, self.max_bytes = requested.fetch_offset, requested.partition_max_bytes
        # Only Fetch accepts any negative epoch.
        epoch = max(ANY_EPOCH, requested.current_leader_epoch)
        if epoch != self.current_leader_epoch:
            self.current_leader_epoch, self.sent_high_watermark = epoch, -1
        self.last_fetched_epoch = requested.last_fetched_epoch
        self.log_start_offset = requested.log_start_offset

    def must_respond(self, data: FetchResponse.PartitionData) -> bool:
        """Returns whether the data has something that the session's last response had not."""
        return bool(
            (data.records is not None and len(data.records))
            or data.error_code
            or data.high_watermark != self.sent_high_watermark
            or data.log_start_offset != self.sent_log_start_offset
            or data.preferred_read_replica >= 0
            or self.diverged
        )

    def update_response(self, data: FetchResponse.PartitionData) -> None:
        """Remembers what is sent.

        After an error or a divergence the follower uses nothing else of the response, so the high
        watermark is sent again.
        """
        self.sent_high_watermark = -1 if data.error_code or self.diverged else data.high_watermark
        self.sent_log_start_offset = data.log_start_offset

    def __repr__(self) -> str:
        return f"{self.topic or self.topic_id}-{self.index} from {self.fetch_offset}"


def keys_and_partitions(
    body: FetchRequest, version: int
) -> Iterator[tuple[SessionKey, str, Uuid, FetchRequest.FetchPartition]]:
    """Iterates over the partitions of the request, with their keys in a session."""
    by_id = version >= TOPIC_IDS_FROM
    for topic in body.topics:
        name = topic.topic_id if by_id else topic.topic
        for requested in topic.partitions:
            yield (name, requested.partition), topic.topic, topic.topic_id, requested


def forgotten(body: FetchRequest, version: int) -> Iterator[SessionKey]:
    """Iterates over the keys that an incremental request removes from its session."""
    by_id = version >= TOPIC_IDS_FROM
    for topic in body.forgotten_topics_data:
        for index in topic.partitions:
            yield (topic.topic_id if by_id else topic.topic), index


def response(partitions: Iterable[PartitionResponse], session_id: int) -> FetchResponse:
    """Returns the response. The order is kept; neighbours of the same topic share an entry."""
    topics: list[FetchResponse.FetchableTopicResponse] = []
    of_topic: list[FetchResponse.PartitionData] = []
    last: tuple[str, Uuid] | None = None
    for partition, data in partitions:
        if last != (partition.topic, partition.topic_id):
            last, of_topic = (partition.topic, partition.topic_id), []
            topics.append(
                FetchResponse.FetchableTopicResponse(
                    topic=partition.topic, topic_id=partition.topic_id, partitions=of_topic
                )
            )
        of_topic.append(data)
    return FetchResponse(session_id=session_id, responses=topics)
