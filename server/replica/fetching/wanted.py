"""What a fetcher wants of one partition, and what it was told of it last.

Rules. From version 13 on topics come by id, before by name, and are answered the same way; a session never mixes them (KIP-516).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.uuid import Uuid

Key = tuple[str | Uuid, int]
"""A partition within a session: the topic's id or name, whichever the session uses, and the index."""

Answered = tuple["Wanted", FetchResponse.PartitionData]

TOPIC_IDS_FROM = 13

ANY_EPOCH = -1
"""A fetcher's idea of the leader epoch that asks for no check."""


class Wanted:
    """One partition of a Fetch request. `known_high_watermark` and `known_log_start` are what the session's last answer said; `diverged` is
    whether the reading just now found that the fetcher has another history."""

    __slots__ = (
        "current_leader_epoch",
        "diverged",
        "fetch_offset",
        "index",
        "known_high_watermark",
        "known_log_start",
        "last_fetched_epoch",
        "log_start_offset",
        "max_bytes",
        "topic",
        "topic_id",
    )

    def __init__(self, topic: str, topic_id: Uuid, asked: FetchRequest.FetchPartition) -> None:
        self.topic, self.topic_id, self.index = topic, topic_id, asked.partition
        self.known_high_watermark = self.known_log_start = -1
        self.diverged, self.current_leader_epoch = False, ANY_EPOCH
        self.update(asked)

    def update(self, asked: FetchRequest.FetchPartition) -> None:
        """The fetcher has moved on. In another leader epoch it may have passed over what it was told last, and is told the watermark again."""
        self.fetch_offset, self.max_bytes = asked.fetch_offset, asked.partition_max_bytes
        epoch = max(ANY_EPOCH, asked.current_leader_epoch)  # any below 0: only Fetch has it so
        if epoch != self.current_leader_epoch:
            self.current_leader_epoch, self.known_high_watermark = epoch, -1
        self.last_fetched_epoch = asked.last_fetched_epoch
        self.log_start_offset = asked.log_start_offset

    def has_news(self, data: FetchResponse.PartitionData) -> bool:
        """Whether an answer says something that a session's last did not."""
        return bool(
            (data.records is not None and len(data.records))
            or data.error_code
            or data.high_watermark != self.known_high_watermark
            or data.log_start_offset != self.known_log_start
            or data.preferred_read_replica >= 0
            or self.diverged
        )

    def remember(self, data: FetchResponse.PartitionData) -> None:
        """It is told. After an error, or a divergence, by which a follower cuts and looks at nothing else, the watermark is told again."""
        self.known_high_watermark = -1 if data.error_code or self.diverged else data.high_watermark
        self.known_log_start = data.log_start_offset

    def __repr__(self) -> str:
        return f"{self.topic or self.topic_id}-{self.index} from {self.fetch_offset}"


def keys_and_partitions(
    body: FetchRequest, version: int
) -> Iterator[tuple[Key, str, Uuid, FetchRequest.FetchPartition]]:
    """Every partition of the request, with its key in a session."""
    by_id = version >= TOPIC_IDS_FROM
    for topic in body.topics:
        name = topic.topic_id if by_id else topic.topic
        for asked in topic.partitions:
            yield (name, asked.partition), topic.topic, topic.topic_id, asked


def forgotten(body: FetchRequest, version: int) -> Iterator[Key]:
    """The keys that an incremental request takes out of its session."""
    by_id = version >= TOPIC_IDS_FROM
    for topic in body.forgotten_topics_data:
        for index in topic.partitions:
            yield (topic.topic_id if by_id else topic.topic), index


def response(answered: Iterable[Answered], session_id: int) -> FetchResponse:
    """The answers as a response: neighbours of one topic share an entry, and the order is kept."""
    topics: list[FetchResponse.FetchableTopicResponse] = []
    partitions: list[FetchResponse.PartitionData] = []
    last: tuple[str, Uuid] | None = None
    for wanted, data in answered:
        if last != (wanted.topic, wanted.topic_id):
            last, partitions = (wanted.topic, wanted.topic_id), []
            topics.append(
                FetchResponse.FetchableTopicResponse(
                    topic=wanted.topic, topic_id=wanted.topic_id, partitions=partitions
                )
            )
        partitions.append(data)
    return FetchResponse(session_id=session_id, responses=topics)
