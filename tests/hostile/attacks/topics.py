"""Wide requests for topics and their partitions."""

from __future__ import annotations

from collections.abc import Iterator

from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest
from kafkadouble.messages.generated.metadata import MetadataRequest

from ..sockets import MB, Client, create
from .exchanges import Address, ask_widely

EVIL, TOPICS, PARTITIONS, WIDE = "evil", 5, 9800, 49_000


def create_again(client: Client, name: str, partitions: int = 1) -> None:
    """Creates a topic, without what an attack before this one has left."""
    topic = DeleteTopicsRequest.DeleteTopicState(name=name)
    client.ask(DeleteTopicsRequest(topics=[topic], timeout_ms=1000), 6)
    create(client, name, partitions)


def evil_topic(client: Client, scale: float) -> None:
    create_again(client, EVIL)


def wide_topics(client: Client, scale: float) -> None:
    for number in range(TOPICS):
        create_again(client, f"wide-{number}", int(PARTITIONS * scale))


def in_wide_topics(scale: float) -> Iterator[tuple[str, range]]:
    return ((f"wide-{number}", range(int(PARTITIONS * scale))) for number in range(TOPICS))


def wide_metadata(address: Address, scale: float) -> None:
    ask_widely(address, MetadataRequest(topics=None), 12)


def unknown_names(address: Address, scale: float) -> None:
    names = (f"unknown-{number}" for number in range(int(WIDE * scale)))
    topics = [MetadataRequest.MetadataRequestTopic(name=name) for name in names]
    ask_widely(address, MetadataRequest(topics=topics, allow_auto_topic_creation=False), 12)


def wide_fetch(address: Address, scale: float) -> None:
    topics = [
        FetchRequest.FetchTopic(
            topic=name, partitions=[FetchRequest.FetchPartition(partition=at, partition_max_bytes=MB) for at in indexes]
        )
        for name, indexes in in_wide_topics(scale)
    ]
    ask_widely(address, FetchRequest(max_wait_ms=0, max_bytes=MB, session_epoch=-1, topics=topics), 11)


def wide_list_offsets(address: Address, scale: float) -> None:
    of = ListOffsetsRequest
    for timestamp in (-1, 5):
        topics = [
            of.ListOffsetsTopic(
                name=name,
                partitions=[of.ListOffsetsPartition(partition_index=at, timestamp=timestamp) for at in indexes],
            )
            for name, indexes in in_wide_topics(scale)
        ]
        ask_widely(address, ListOffsetsRequest(topics=topics), 7)
